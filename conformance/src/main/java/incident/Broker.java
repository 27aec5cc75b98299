import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import kafka.server.KafkaConfig;
import kafka.server.KafkaServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Time;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A real Kafka broker with its ZooKeeper in this JVM, on the loopback interface. */
class Broker implements AutoCloseable {
    private final ServerCnxnFactory zookeeper = NIOServerCnxnFactory.createFactory(0, 20);
    private final KafkaServer kafka;
    private final String address;

    Broker() throws Exception {
        Path dir = Files.createTempDirectory("broker");
        zookeeper.startup(new ZooKeeperServer(dir.resolve("zk").toFile(), dir.resolve("zk").toFile(), 2000));
        try (ServerSocket free = new ServerSocket(0)) { address = "127.0.0.1:" + free.getLocalPort(); }
        Properties p = new Properties();
        p.put("zookeeper.connect", "127.0.0.1:" + zookeeper.getLocalPort());
        p.put("listeners", "PLAINTEXT://" + address);
        p.put("log.dirs", dir.resolve("kafka").toString());
        p.put("offsets.topic.replication.factor", "1");
        p.put("offsets.topic.num.partitions", "1");
        kafka = new KafkaServer(new KafkaConfig(p), Time.SYSTEM, scala.Option.empty(), false);
        kafka.startup();
    }

    String address() { return address; }

    void createTopics(Map<String, Integer> partitions) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", address))) {
            List<NewTopic> topics = new ArrayList<>();
            partitions.forEach((name, n) -> topics.add(new NewTopic(name, n, (short) 1)));
            admin.createTopics(topics).all().get();
        }
    }

    /** Sends so many records to each partition, more to the later ones. */
    void send(Map<String, Integer> partitions, int records) {
        Map<String, Object> config = Map.of("bootstrap.servers", address);
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            partitions.forEach((topic, n) -> {
                for (int p = 0; p < n; p++)
                    for (int i = 0; i < records * (p + 1); i++) producer.send(new ProducerRecord<>(topic, p, null, ("customer-" + i % 40).getBytes(StandardCharsets.UTF_8)));
            });
        }
    }

    @Override public void close() {
        kafka.shutdown();
        zookeeper.shutdown();
    }
}
