import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;

/**
 * Restores a snapshot with the job that made it, writes every value that Flink read to {@code dir/facts.txt}, and waits for the
 * restored job's own checkpoint, which can be restored in turn. Options: those of {@link Settings} and {@link Jobs}, after=N (own
 * checkpoints to wait for, 1), hide=DIR (renamed to DIR.hidden as soon as the job's first own checkpoint is complete, then
 * one more is waited for). Answers {@code checkpoint<tab>DIR}, the newest.
 */
class Judge {
    static void restore(String scenario, String snapshot, Path dir, Options o) throws Exception {
        o.set("from", snapshot);
        judge(scenario, dir, o);
    }

    static void recover(String scenario, Path dir, Options o) throws Exception {
        try (ZooKeeperNodes zookeeper = new ZooKeeperNodes(dir.resolve("zk"))) {
            o.set("zookeeper", zookeeper.address());
            judge(scenario, dir, o);
        }
    }

    /**
     * Runs a job under high availability, from the newest checkpoint of dir/ha and dir/zk where there is one, and leaves what a JobManager that is
     * killed leaves: dir/ha, dir/zk and dir/checkpoints as they are when {@code after} checkpoints are complete.
     */
    static void crash(String scenario, Path dir, Options o) throws Exception {
        if (!o.has("interval")) o.set("interval", "300ms");
        if (!o.has("retained")) o.set("retained", "30"); // none is given up between the copies
        Path nodes = dir.resolve("zk"), objects = dir.resolve("ha"), kept = dir.resolve("kept");
        try (ZooKeeperNodes zookeeper = new ZooKeeperNodes(nodes)) {
            o.set("zookeeper", zookeeper.address());
            try (Run run = new Run(scenario, dir, o)) {
                run.awaitCheckpoint((int) o.number("after", 1), 60);
                zookeeper.save(kept.resolve("zk"));
                Trees.copy(objects, kept.resolve("ha"));
            }
        }
        for (Path p : new Path[] {nodes, objects}) { // the clean end has taken from them
            Trees.delete(p);
            Files.move(kept.resolve(p.getFileName()), p);
        }
        Files.delete(kept);
    }

    private static void judge(String scenario, Path dir, Options o) throws Exception {
        if (!o.has("interval")) o.set("interval", "300ms");
        Facts.start();
        try (Run run = new Run(scenario, dir, o)) {
            run.await(40, "facts of all operators", () -> Facts.complete(o.on("unaligned") ? 1500 : 150));
            List<String> facts = Facts.sorted();
            int after = (int) o.number("after", 1);
            run.awaitCheckpoint(o.has("hide") ? 1 : after, 20);
            if (o.has("hide")) {
                Path hide = Paths.get(o.text("hide", ""));
                Files.move(hide, hide.resolveSibling(hide.getFileName() + ".hidden"));
                run.awaitCheckpoint(after + 1, 20);
            }
            run.close();
            Files.write(dir.resolve("facts.txt"), facts);
            List<Path> own = run.checkpoints();
            Main.answer("checkpoint\t" + own.get(own.size() - 1));
        } catch (IllegalStateException e) {
            throw Facts.missing().isEmpty() ? e : new IllegalStateException("nothing told by " + Facts.missing(), e);
        } finally {
            Facts.stop();
        }
    }
}
