import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.connectors.kafka.FlinkKafkaConsumer;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;

/**
 * The founding incident with real Kafka: a job moves from FlinkKafkaConsumer to KafkaSource and keeps the uid. Nothing registers the
 * consumer's union list any more; each subtask is restored with all of it and each checkpoint keeps what every subtask has, so that it grows
 * by the parallelism at each restore. Leaves gen-0 (the consumer's) to gen-3 below DIR, each after one more restore, and gen-3-files, the same
 * with every stream in a file of its own. Answers {@code checkpoint<tab>DIR}, one for each.
 */
class Incident {
    private static final Map<String, Integer> TOPICS = new TreeMap<>(Map.of("orders", 8, "payments", 4));
    private static final int PARALLELISM = 4;

    static void make(Path dir) throws Exception {
        try (Broker broker = new Broker()) {
            broker.createTopics(TOPICS);
            Path last = generation(broker, dir.resolve("gen-0"), null, "20480");
            for (int n = 1; n <= 3; n++) {
                if (n == 3) generation(broker, dir.resolve("gen-3-files"), last, "0");
                last = generation(broker, dir.resolve("gen-" + n), last, "20480");
            }
        }
    }

    private static Path generation(Broker broker, Path dir, Path from, String threshold) throws Exception {
        Options o = new Options(new String[] {"threshold=" + threshold}, 0);
        if (from != null) o.set("from", from.toString());
        try (Run run = new Run("incident", dir, o, env -> build(env, broker.address(), from == null))) {
            run.awaitCheckpoint(1, 60);
            broker.send(TOPICS, 20);
            run.awaitCheckpoint(4, 60);
            run.close();
            List<Path> all = run.checkpoints();
            Path last = all.get(all.size() - 1);
            Main.answer("checkpoint\t" + last);
            return last;
        }
    }

    private static void build(StreamExecutionEnvironment env, String broker, boolean old) {
        env.setParallelism(PARALLELISM);
        DataStream<String> in;
        if (old) {
            Properties p = new Properties();
            p.put("bootstrap.servers", broker);
            p.put("group.id", "orders-job");
            in = env.addSource(new FlinkKafkaConsumer<>(new ArrayList<>(TOPICS.keySet()), new SimpleStringSchema(), p).setStartFromEarliest()).uid("kafka-source").name("Source: orders");
        } else {
            KafkaSource<String> source = KafkaSource.<String>builder().setBootstrapServers(broker).setTopics(new ArrayList<>(TOPICS.keySet())).setGroupId("orders-job")
                    .setStartingOffsets(OffsetsInitializer.committedOffsets(OffsetResetStrategy.EARLIEST)).setValueOnlyDeserializer(new SimpleStringSchema()).build();
            in = env.fromSource(source, WatermarkStrategy.noWatermarks(), "orders").uid("kafka-source");
        }
        in.keyBy(v -> v).process(new Count()).uid("count").name("Count").sinkTo(KafkaSink.<String>builder().setBootstrapServers(broker)
                .setRecordSerializer(KafkaRecordSerializationSchema.builder().setTopic("counts").setValueSerializationSchema(new SimpleStringSchema()).build()).build()).uid("kafka-sink").name("Counts");
    }

    public static class Count extends KeyedProcessFunction<String, String, String> {
        private transient ValueState<Long> count;
        private transient ValueState<String> session;
        @Override public void open(Configuration c) {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
            ValueStateDescriptor<String> d = new ValueStateDescriptor<>("session", Types.STRING);
            d.enableTimeToLive(Flink.ttl(3650));
            session = getRuntimeContext().getState(d);
        }
        @Override public void processElement(String v, Context c, Collector<String> out) throws Exception {
            long n = count.value() == null ? 1 : count.value() + 1;
            count.update(n);
            session.update("session-of-" + v);
            if (n % 10 == 0) out.collect(v + " " + n);
        }
    }
}
