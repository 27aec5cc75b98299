import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A job that runs in a MiniCluster of its own in this JVM, with its checkpoints below {@code dir/checkpoints}. */
class Run implements AutoCloseable {
    private final Path dir;
    private final JobClient job;
    private final CompletableFuture<?> result; // asked for at the start: the cluster goes down with the job
    private int before = -1; // the number of the last checkpoint that was not this run's

    /** Builds a job's graph. */
    interface Graph { void build(StreamExecutionEnvironment env) throws Exception; }

    Run(String scenario, Path dir, Options o) throws Exception { this(scenario, dir, o, env -> Jobs.build(env, scenario, o)); }

    Run(String name, Path dir, Options o, Graph graph) throws Exception {
        this.dir = dir;
        Files.createDirectories(dir);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(Settings.of(o, dir));
        graph.build(env);
        List<Path> old = checkpoints();
        if (!old.isEmpty()) before = number(old.get(old.size() - 1)); // recovered in its own directory
        job = o.has("framesize") ? Flink.executeByRpc(env, Settings.of(o, dir)) : env.executeAsync("conformance-" + name);
        result = job.getJobExecutionResult();
    }

    /** Waits for the n-th checkpoint of this run. */
    void awaitCheckpoint(int n, int seconds) throws Exception {
        await(seconds, "checkpoint " + n, () -> {
            List<Path> all = checkpoints();
            if (all.isEmpty()) return false;
            if (before < 0) before = number(all.get(0)) - 1; // a restored job counts on
            return number(all.get(all.size() - 1)) >= before + n;
        });
    }

    /** Waits while the job is alive. */
    void await(int seconds, String what, BooleanSupplier there) throws Exception {
        long deadline = System.currentTimeMillis() + seconds * 1000L;
        while (!there.getAsBoolean()) {
            if (result.isDone()) {
                result.get();
                throw new IllegalStateException("the job finished before " + what);
            }
            if (System.currentTimeMillis() > deadline) throw new IllegalStateException("not in time: " + what + ", checkpoints " + checkpoints());
            Thread.sleep(20);
        }
    }

    String savepoint(String format) throws Exception { return Flink.savepoint(job, "file://" + dir + "/savepoint-" + format.toLowerCase(), format); }

    /** Complete checkpoints that are there, the oldest first. */
    List<Path> checkpoints() {
        Path root = dir.resolve("checkpoints");
        for (int tries = 0; ; tries++) {
            if (!Files.exists(root)) return List.of();
            try (Stream<Path> files = Files.walk(root)) {
                return files.filter(p -> p.endsWith("_metadata")).map(Path::getParent).sorted(Comparator.comparing(Run::number)).collect(Collectors.toList());
            } catch (UncheckedIOException | IOException e) { // a checkpoint vanished while we looked
                if (tries > 20) throw new IllegalStateException(e);
            }
        }
    }

    private static int number(Path checkpoint) { return Integer.parseInt(checkpoint.getFileName().toString().substring("chk-".length())); }

    /** Cancels the job and waits for its cluster to go; the checkpoints stay. */
    @Override public void close() throws Exception {
        if (!result.isDone()) job.cancel().get(60, TimeUnit.SECONDS);
        try {
            result.get(30, TimeUnit.SECONDS);
        } catch (ExecutionException | CancellationException e) {
            // cancelled, or failed, which await() has told
        }
        Thread.sleep(100);
    }
}
