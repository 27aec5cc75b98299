import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;

/** Two split lists and a union list. As a real reader of a union list does, each subtask keeps its own share of it after a restore. */
public class Buffering extends RichMapFunction<Tuple2<Long, Long>, Tuple2<Long, Long>> implements CheckpointedFunction {
    /** Names of the union list: of tuples, or of Kafka's own element type. */
    static final String PLAIN = "union-offsets", KAFKA = "topic-partition-offset-states";

    private final String uid, unionName;
    private final int unionSize, repeat;
    private final Set<String> without;
    private transient ListState<Tuple2<String, Long>> buffer;
    private transient ListState<Jobs.Order> orders;
    private transient ListState<Object> union;

    Buffering(String uid, int unionSize, int repeat, String unionName, Set<String> without) {
        this.uid = uid;
        this.unionSize = unionSize;
        this.repeat = repeat;
        this.unionName = unionName;
        this.without = without;
    }

    @Override public Tuple2<Long, Long> map(Tuple2<Long, Long> v) {
        if (Facts.on()) Facts.say("inflight " + uid + " " + v);
        return v;
    }

    @Override public void snapshotState(FunctionSnapshotContext c) {}

    @Override public void initializeState(FunctionInitializationContext c) throws Exception {
        OperatorStateStore store = c.getOperatorStateStore();
        int me = Flink.subtask(getRuntimeContext()), all = Flink.parallelism(getRuntimeContext());
        Set<String> restored = new TreeSet<>(store.getRegisteredStateNames());
        if (!without.contains("buffered-elements")) buffer = store.getListState(new ListStateDescriptor<>("buffered-elements", Types.TUPLE(Types.STRING, Types.LONG)));
        if (!without.contains("pending-orders")) orders = store.getListState(new ListStateDescriptor<>("pending-orders", TypeInformation.of(Jobs.Order.class)));
        if (!without.contains(unionName)) union = store.getUnionListState(unionDescriptor());
        if (!c.isRestored() && !Facts.on()) {
            if (buffer != null) for (int i = 0; i < 5; i++) buffer.add(Tuple2.of("subtask-" + me + "-element-" + i, (long) i));
            if (orders != null) for (int i = 0; i < 3; i++) orders.add(new Jobs.Order(me * 10 + i));
            if (union != null) for (int i = me; i < unionSize * repeat; i += all) union.add(unionElement(i % unionSize));
            return;
        }
        if (Facts.on()) {
            Facts.say("restored " + uid + "#" + me + " " + c.isRestored() + " names " + restored);
            tell(me);
        }
        if (union != null) keepShare(union, me, all);
    }

    /** Leaves this subtask's share of a union list. */
    static <T> void keepShare(ListState<T> union, int me, int all) throws Exception {
        List<T> l = Enrich.list(union.get());
        l.sort(Comparator.comparing(Object::toString)); // not each subtask gets them in the same order
        union.clear();
        for (int i = me; i < l.size(); i += all) union.add(l.get(i));
    }

    private void tell(int me) throws Exception {
        if (buffer != null) for (Object x : buffer.get()) Facts.say("list " + uid + "#" + me + " buffered-elements=" + x);
        if (orders != null) for (Object x : orders.get()) Facts.say("list " + uid + "#" + me + " pending-orders=" + x);
        if (union != null) {
            List<Object> l = Enrich.list(union.get());
            Facts.say("union " + uid + "#" + me + " " + unionName + " count=" + l.size());
            if (me == 0) for (Object x : l) Facts.say("union " + uid + " " + unionName + "=" + x);
        }
        Facts.done(uid, me);
    }

    @SuppressWarnings("unchecked")
    private ListStateDescriptor<Object> unionDescriptor() throws Exception {
        if (unionName.equals(KAFKA)) return new ListStateDescriptor<>(unionName, Kafka.serializer());
        return (ListStateDescriptor<Object>) (ListStateDescriptor<?>) new ListStateDescriptor<>(unionName, Types.TUPLE(Types.STRING, Types.LONG));
    }

    private Object unionElement(int i) throws Exception { return unionName.equals(KAFKA) ? Kafka.element(i % 4 == 3 ? "refunds" : "orders", i, 1000L + i) : Tuple2.of("orders-" + i, 1000L + i); }
}
