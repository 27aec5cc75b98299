import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * Real Flink as maker and judge of snapshots, many runs in one JVM.
 *
 * <pre>
 *   make SCENARIO DIR [option=value …]           runs a job, leaves its checkpoints and savepoints under DIR
 *   restore SCENARIO SNAPSHOT DIR [option=value …]
 *                                                restores it, writes what Flink read to DIR/facts.txt, lets the job take
 *                                                a checkpoint of its own below DIR
 *   recover SCENARIO DIR [option=value …]        as a new JobManager does from high availability in DIR/ha and the ZooKeeper nodes in DIR/zk,
 *                                                below DIR otherwise as restore
 *   crash SCENARIO DIR [option=value …]          runs it under high availability and leaves what a killed JobManager leaves in DIR/ha, DIR/zk and
 *                                                DIR/checkpoints, for recover and for another crash
 *   incident DIR                                 the founding incident with a real Kafka broker, see incident/Incident.java; only built with Flink 1.15
 *   names SNAPSHOT FILE                          the state names in it as Flink's own loader reads them
 * </pre>
 *
 * A command is an argument list or a line of stdin. Each answers with lines of {@code KEY<tab>VALUE} and a last line {@code ok}
 * or {@code failed<tab>WHY}. SNAPSHOT is a directory with a {@code _metadata}. The scenarios are in {@link Jobs}, the options in
 * {@link Settings}, {@link Maker} and {@link Judge}.
 */
public class Main {
    public static void main(String[] args) throws Exception {
        boolean ok = true;
        if (args.length > 0) {
            ok = run(args);
        } else {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line; (line = in.readLine()) != null; ) if (!line.isBlank()) run(line.trim().split("\\s+"));
        }
        System.exit(ok ? 0 : 1); // Flink leaves threads behind
    }

    private static boolean run(String[] args) {
        try {
            switch (args[0]) {
                case "make": Maker.make(args[1], absolute(args[2]), new Options(args, 3)); break;
                case "restore": Judge.restore(args[1], args[2], absolute(args[3]), new Options(args, 4)); break;
                case "recover": Judge.recover(args[1], absolute(args[2]), new Options(args, 3)); break;
                case "crash": Judge.crash(args[1], absolute(args[2]), new Options(args, 3)); break;
                case "incident": Class.forName("Incident").getDeclaredMethod("make", Path.class).invoke(null, absolute(args[1])); break;
                case "names": Names.write(args[1], args[2]); break;
                default: throw new IllegalArgumentException("no command " + args[0]);
            }
            answer("ok");
            return true;
        } catch (Throwable t) {
            answer("failed\t" + reason(t));
            return false;
        }
    }

    static void answer(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static Path absolute(String path) { return Paths.get(path).toAbsolutePath().normalize(); }

    /** The chain of causes in one line, the outermost first. */
    static String reason(Throwable t) {
        StringBuilder s = new StringBuilder();
        for (int i = 0; t != null && i < 12; t = t.getCause(), i++) {
            String m = String.valueOf(t.getMessage());
            s.append(i == 0 ? "" : " <- ").append(t.getClass().getSimpleName()).append(": ").append(m, 0, Math.min(m.length(), 400));
        }
        return s.toString().replaceAll("\\s+", " ");
    }
}
