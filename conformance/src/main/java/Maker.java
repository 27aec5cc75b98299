import java.nio.file.Path;

/**
 * Makes snapshots: runs a job until it has taken some checkpoints, then takes savepoints. Options: those of {@link Settings} and
 * {@link Jobs}, checkpoints=N (wait for so many, 4), savepoints=false.
 * Answers {@code checkpoint<tab>DIR} for each retained one, the oldest first, {@code canonical<tab>DIR}, {@code native<tab>DIR}.
 */
class Maker {
    static void make(String scenario, Path dir, Options o) throws Exception {
        try (Run run = new Run(scenario, dir, o)) {
            run.awaitCheckpoint((int) o.number("checkpoints", 4), 60);
            if (o.text("savepoints", "true").equals("true"))
                for (String format : new String[] {"CANONICAL", "NATIVE"}) {
                    if (format.equals("NATIVE") && o.on("changelog")) continue; // not supported by the changelog backend
                    String path = run.savepoint(format);
                    if (path != null) Main.answer(format.toLowerCase() + "\t" + path.replaceFirst("^file:", ""));
                }
            run.close();
            for (Path p : run.checkpoints()) Main.answer("checkpoint\t" + p);
        }
    }
}
