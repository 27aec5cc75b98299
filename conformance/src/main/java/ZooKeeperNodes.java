import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.CreateMode;
import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.Watcher;
import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.ZooDefs;
import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.ZooKeeper;
import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.data.Stat;
import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServer;

/**
 * A ZooKeeper in this JVM that holds the nodes of a directory: {@code index} has one line a node (path, persistent or ephemeral, length, file
 * with its bytes or -). Left out are the job graph, since the job is submitted again, and what a crash ended.
 */
class ZooKeeperNodes implements AutoCloseable {
    private final ServerCnxnFactory server = ServerCnxnFactory.createFactory(0, 50);

    ZooKeeperNodes(Path nodes) throws Exception {
        Path data = Files.createTempDirectory("zookeeper");
        server.startup(new ZooKeeperServer(data.toFile(), data.toFile(), 2000));
        CountDownLatch up = new CountDownLatch(1);
        try (Client client = new Client(address(), up)) {
            up.await();
            if (!Files.exists(nodes.resolve("index"))) return; // nothing yet
            for (String line : Files.readAllLines(nodes.resolve("index"))) {
                String[] f = line.split(" ");
                if (!f[1].equals("persistent") || f[0].contains("/jobgraphs/") || f[0].contains("/execution-plans/")) continue;
                byte[] value = f[3].equals("-") ? new byte[0] : Files.readAllBytes(nodes.resolve(f[3]));
                client.create(f[0], value, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
        }
    }

    /** Writes all nodes to a new directory, as the constructor reads them. */
    void save(Path nodes) throws Exception {
        Files.createDirectories(nodes);
        CountDownLatch up = new CountDownLatch(1);
        List<String> index = new ArrayList<>();
        try (Client client = new Client(address(), up)) {
            up.await();
            for (String child : client.getChildren("/", false)) if (!child.equals("zookeeper")) save(client, "/" + child, nodes, index);
        }
        Files.write(nodes.resolve("index"), index);
    }

    private static void save(ZooKeeper client, String path, Path nodes, List<String> index) throws Exception {
        Stat stat = new Stat();
        byte[] value = client.getData(path, false, stat);
        String file = value == null || value.length == 0 ? "-" : String.format("%03d.node", index.size() + 1);
        if (!file.equals("-")) Files.write(nodes.resolve(file), value);
        index.add(path + (stat.getEphemeralOwner() == 0 ? " persistent " : " ephemeral ") + stat.getDataLength() + " " + file);
        for (String child : client.getChildren(path, false)) save(client, path + "/" + child, nodes, index);
    }

    String address() { return "127.0.0.1:" + server.getLocalPort(); }

    @Override public void close() { server.shutdown(); }

    private static class Client extends ZooKeeper implements AutoCloseable {
        Client(String address, CountDownLatch up) throws Exception {
            super(address, 30_000, e -> {
                if (e.getState() == Watcher.Event.KeeperState.SyncConnected) up.countDown();
            });
        }
    }
}
