import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.minicluster.MiniClusterJobClient;
import org.apache.flink.runtime.minicluster.RpcServiceSharing;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** What is named otherwise, or is elsewhere, in another Flink version. */
class Flink {
    /** The running version is older than major.minor. */
    static boolean before(int major, int minor) {
        String[] v = EnvironmentInformation.getVersion().split("\\.");
        int a = Integer.parseInt(v[0]), b = Integer.parseInt(v[1]);
        return a < major || a == major && b < minor;
    }

    static int subtask(RuntimeContext c) { return task(c, "getIndexOfThisSubtask"); }
    static int parallelism(RuntimeContext c) { return task(c, "getNumberOfParallelSubtasks"); }

    /** A number about the task: from the context itself in 1.x, from its TaskInfo in 2.x. */
    private static int task(RuntimeContext c, String getter) {
        try {
            if (before(2, 0)) return (Integer) RuntimeContext.class.getMethod(getter).invoke(c);
            Object info = RuntimeContext.class.getMethod("getTaskInfo").invoke(c);
            return (Integer) Class.forName("org.apache.flink.api.common.TaskInfo").getMethod(getter).invoke(info);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Flink's own Time until 1.18, java.time.Duration since. */
    static StateTtlConfig ttl(int days) {
        try {
            if (!before(1, 19)) return ((StateTtlConfig.Builder) StateTtlConfig.class.getMethod("newBuilder", Duration.class).invoke(null, Duration.ofDays(days))).build();
            Class<?> time = Class.forName("org.apache.flink.api.common.time.Time");
            Object t = time.getMethod("days", long.class).invoke(null, (long) days);
            return ((StateTtlConfig.Builder) StateTtlConfig.class.getMethod("newBuilder", time).invoke(null, t)).build();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Triggers a savepoint and gives its path; null where this Flink has no such format (native before 1.15). */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static String savepoint(JobClient job, String directory, String format) throws Exception {
        Object future = null;
        if (before(1, 15)) {
            if (format.equals("NATIVE")) return null;
            future = JobClient.class.getMethod("triggerSavepoint", String.class).invoke(job, directory);
        }
        for (Method m : JobClient.class.getMethods())
            if (m.getName().equals("triggerSavepoint") && m.getParameterCount() == 2)
                future = m.invoke(job, directory, Enum.valueOf((Class) m.getParameterTypes()[1], format));
        return ((CompletableFuture<String>) future).get(60, TimeUnit.SECONDS);
    }

    /** Runs a job in a MiniCluster whose JobManager and TaskManager talk by RPC; in one RPC service nothing is a message. Flink 1.13 to 1.20. */
    static JobClient executeByRpc(StreamExecutionEnvironment env, Configuration c) throws Exception {
        ClassLoader loader = Flink.class.getClassLoader();
        Object stream = env.getStreamGraph(); // once: the environment forgets its operators
        JobGraph graph = null;
        for (Method m : Class.forName("org.apache.flink.client.deployment.executors.PipelineExecutorUtils").getMethods()) {
            if (!m.getName().equals("getJobGraph")) continue;
            graph = (JobGraph) (m.getParameterCount() == 2 ? m.invoke(null, stream, c) : m.invoke(null, stream, c, loader));
        }
        MiniCluster cluster = new MiniCluster(new MiniClusterConfiguration.Builder().setConfiguration(c).setNumTaskManagers(1).setNumSlotsPerTaskManager(16)
            .setRpcServiceSharing(RpcServiceSharing.DEDICATED).build());
        cluster.start();
        cluster.submitJob(graph).get(60, TimeUnit.SECONDS);
        return new MiniClusterJobClient(graph.getJobID(), cluster, loader, MiniClusterJobClient.JobFinalizationBehavior.SHUTDOWN_CLUSTER);
    }
}
