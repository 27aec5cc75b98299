import java.nio.file.Path;

import org.apache.flink.configuration.Configuration;

/**
 * A job's configuration from the options of make and restore:
 *
 * <pre>
 *   backend=hashmap|rocksdb  incremental=true  timers=heap (beside RocksDB)  threshold=BYTES (state inline up to)
 *   interval=700ms  retained=3  unaligned=true  compression=true  changelog=true  materialize=1500ms  filemerging=true
 *   zookeeper=ADDRESS  cluster=ID (high availability)
 *   framesize=BYTES (JobManager and TaskManager then talk by RPC, as between machines, and messages above it are dropped)
 *   ask=10s (how long an answer is waited for)
 *   from=SNAPSHOT  claim=CLAIM|NO_CLAIM|LEGACY  ignore=true (allow non-restored state)
 * </pre>
 */
class Settings {
    private final Configuration c = new Configuration();

    static Configuration of(Options o, Path dir) {
        Settings s = new Settings();
        s.cluster(dir);
        s.checkpoints(o, dir);
        s.recovery(o);
        s.highAvailability(o, dir);
        s.rpc(o);
        return s.c;
    }

    private void cluster(Path dir) {
        set(dir + "/local", "io.tmp.dirs");
        set(dir + "/local", "state.backend.rocksdb.localdir"); // named in RocksDB's OPTIONS file, which is part of checkpoints
        set("none", 1, 19, "restart-strategy", "restart-strategy.type");
        set("200m", "taskmanager.memory.managed.size");
        set("64m", "taskmanager.memory.network.min");
        set("64m", "taskmanager.memory.network.max");
        set("16", "taskmanager.numberOfTaskSlots");
        set("false", "rest.enabled");
        set("0", "rest.port");
        set("0", "rest.bind-port");
        set("false", "web.submit.enable");
    }

    private void checkpoints(Options o, Path dir) {
        set(o.text("backend", "hashmap"), 1, 19, "state.backend", "state.backend.type");
        set(o.text("incremental", "false"), 1, 20, "state.backend.incremental", "execution.checkpointing.incremental");
        set("filesystem", 1, 20, "state.checkpoint-storage", "execution.checkpointing.storage");
        set("file://" + dir + "/checkpoints", 1, 20, "state.checkpoints.dir", "execution.checkpointing.dir");
        set(o.text("threshold", "0"), 1, 20, "state.storage.fs.memory-threshold", "execution.checkpointing.data-inline-threshold");
        set(o.text("retained", "3"), 1, 20, "state.checkpoints.num-retained", "execution.checkpointing.num-retained");
        set(o.text("interval", "700ms"), "execution.checkpointing.interval");
        set("RETAIN_ON_CANCELLATION", "execution.checkpointing.externalized-checkpoint-retention");
        if (o.has("timers")) set(o.text("timers", ""), "state.backend.rocksdb.timer-service.factory");
        if (o.on("compression")) set("true", "execution.checkpointing.snapshot-compression");
        if (o.on("filemerging")) set("true", "execution.checkpointing.file-merging.enabled");
        if (o.on("changelog")) {
            set("true", 1, 20, "state.backend.changelog.enabled", "state.changelog.enabled");
            set("filesystem", 1, 20, "state.backend.changelog.storage", "state.changelog.storage");
            set("file://" + dir + "/changelog", 1, 20, "dstl.dfs.base-path", "state.changelog.dstl.dfs.base-path");
            set(o.text("materialize", "1500ms"), 1, 20, "state.backend.changelog.periodic-materialize.interval", "state.changelog.periodic-materialize.interval");
        }
        if (o.on("unaligned")) { // few and small buffers, so that a slow step is seen in all channels at once
            set("true", 1, 20, "execution.checkpointing.unaligned", "execution.checkpointing.unaligned.enabled");
            set("4kb", "taskmanager.memory.segment-size");
            set("2", "taskmanager.network.memory.buffers-per-channel");
            set("2", "taskmanager.network.memory.floating-buffers-per-gate");
        }
    }

    private void recovery(Options o) {
        if (!o.has("from")) return;
        set(o.text("from", ""), 1, 20, "execution.savepoint.path", "execution.state-recovery.path");
        set(o.text("ignore", "false"), 1, 20, "execution.savepoint.ignore-unclaimed-state", "execution.state-recovery.ignore-unclaimed-state");
        if (o.has("claim")) set(o.text("claim", ""), 1, 20, "execution.savepoint-restore-mode", "execution.state-recovery.claim-mode");
    }

    private void rpc(Options o) {
        if (o.has("framesize")) set(o.text("framesize", "") + "b", 1, 18, "akka.framesize", "pekko.framesize");
        if (o.has("ask")) set(o.text("ask", ""), 1, 18, "akka.ask.timeout", "pekko.ask.timeout"); // what was dropped is told as a time-out
    }

    private void highAvailability(Options o, Path dir) {
        if (!o.has("zookeeper")) return;
        set("zookeeper", 1, 17, "high-availability", "high-availability.type");
        set(o.text("zookeeper", ""), "high-availability.zookeeper.quorum");
        set("file://" + dir + "/ha", "high-availability.storageDir");
        set(o.text("cluster", "lab"), "high-availability.cluster-id");
        set("0123456789abcdef0123456789abcdef", "$internal.pipeline.job-id"); // the job's id is part of the nodes' paths
    }

    private void set(String value, String key) { c.setString(key, value); }

    /** An option that was renamed in major.minor. */
    private void set(String value, int major, int minor, String oldKey, String newKey) { set(value, Flink.before(major, minor) ? oldKey : newKey); }
}
