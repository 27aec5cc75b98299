import java.lang.reflect.Method;

import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;

/** The old Kafka consumer's own serializer and element type, by reflection: its class is gone from connectors for Flink 2. */
class Kafka {
    private static final String PACKAGE = "org.apache.flink.streaming.connectors.kafka.";

    @SuppressWarnings("unchecked")
    static TypeSerializer<Object> serializer() throws Exception {
        Method m = Class.forName(PACKAGE + "FlinkKafkaConsumerBase").getDeclaredMethod("createStateSerializer", ExecutionConfig.class);
        m.setAccessible(true);
        return (TypeSerializer<Object>) m.invoke(null, new ExecutionConfig());
    }

    /** A partition and the offset of the last record read. */
    static Object element(String topic, int partition, long offset) throws Exception {
        Object p = Class.forName(PACKAGE + "internals.KafkaTopicPartition").getConstructor(String.class, int.class).newInstance(topic, partition);
        return Tuple2.of(p, offset);
    }
}
