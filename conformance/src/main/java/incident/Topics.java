import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * A KafkaSource on two topics of a broker in this JVM, to which each run sends more. A restored job tells the first offset that it reads of each partition:
 * {@code source UID TOPIC-PARTITION first=OFFSET}. Option: topics=NAME,… (subscribed to).
 */
class Topics {
    private static final Map<String, Integer> TOPICS = Map.of("orders", 4, "payments", 3);
    private static Broker broker; // as long as the JVM

    static DataStream<Long> read(StreamExecutionEnvironment env, String uid, Options o) throws Exception {
        if (broker == null) {
            broker = new Broker();
            broker.createTopics(TOPICS);
        }
        broker.send(TOPICS, 10);
        KafkaSource<Tuple2<String, Long>> source = KafkaSource.<Tuple2<String, Long>>builder().setBootstrapServers(broker.address()).setGroupId("conformance")
                .setTopics(Arrays.asList(o.text("topics", "orders,payments").split(","))).setStartingOffsets(OffsetsInitializer.earliest()).setDeserializer(new Positions()).build();
        return env.fromSource(source, WatermarkStrategy.noWatermarks(), uid).uid(uid).flatMap(new First(uid)).returns(Types.LONG).uid(uid + "-first").name("First offsets");
    }

    /** The partition of a record and its offset. */
    public static class Positions implements KafkaRecordDeserializationSchema<Tuple2<String, Long>> {
        @Override public void deserialize(ConsumerRecord<byte[], byte[]> r, Collector<Tuple2<String, Long>> out) { out.collect(Tuple2.of(r.topic() + "-" + r.partition(), r.offset())); }
        @Override public TypeInformation<Tuple2<String, Long>> getProducedType() { return Types.TUPLE(Types.STRING, Types.LONG); }
    }

    /** Tells the first offset of each partition, or passes all on. */
    public static class First extends RichFlatMapFunction<Tuple2<String, Long>, Long> {
        private final String uid;
        private final Set<String> seen = new HashSet<>();
        First(String uid) { this.uid = uid; }

        @Override public void flatMap(Tuple2<String, Long> v, Collector<Long> out) {
            if (!Facts.on()) out.collect(v.f1);
            else if (seen.add(v.f0)) Facts.say("source " + uid + " " + v.f0 + " first=" + v.f1);
        }
    }
}
