import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ServiceLoader;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.rpc.RpcSystem;
import org.apache.flink.runtime.rpc.RpcSystemLoader;

/**
 * One RPC system for all runs. Flink loads one for each cluster, in a class loader of its own: most of the time of a short run goes into unpacking its
 * jar and loading Pekko and Scala again. Each cluster still has its own actor systems. Flink before 1.14 has none of this.
 */
public class SharedRpc implements RpcSystemLoader {
    private static RpcSystem shared;

    /** Before Flink's own, which has 0 or 1; not in 1.14 and 1.15, where the first of the class path counts. */
    public int getLoadPriority() { return -1; }

    @Override public RpcSystem loadRpcSystem(Configuration c) {
        synchronized (SharedRpc.class) {
            if (shared == null) shared = load();
            return shared;
        }
    }

    /** Flink's own, that no cluster closes. Its jar goes to the JVM's directory for temporary files and not to the first run's. */
    private static RpcSystem load() {
        for (RpcSystemLoader loader : ServiceLoader.load(RpcSystemLoader.class)) {
            if (loader instanceof SharedRpc) continue;
            RpcSystem flinks = loader.loadRpcSystem(new Configuration());
            return (RpcSystem) Proxy.newProxyInstance(SharedRpc.class.getClassLoader(), new Class<?>[] {RpcSystem.class}, (proxy, method, args) -> {
                if (method.getName().equals("close")) return null;
                try {
                    return method.invoke(flinks, args);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
        }
        throw new IllegalStateException("no RPC system on the class path");
    }
}
