import java.util.Map;

import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.co.BroadcastProcessFunction;
import org.apache.flink.util.Collector;

/** Two broadcast states. */
public class WithRules extends BroadcastProcessFunction<Tuple2<Long, Long>, Long, String> implements CheckpointedFunction {
    static final MapStateDescriptor<String, Jobs.Order> RULES = new MapStateDescriptor<>("rules", Types.STRING, TypeInformation.of(Jobs.Order.class));
    static final MapStateDescriptor<String, Long> LIMITS = new MapStateDescriptor<>("limits", Types.STRING, Types.LONG);
    private final String uid;

    WithRules(String uid) { this.uid = uid; }

    @Override public void snapshotState(FunctionSnapshotContext c) {}

    @Override public void initializeState(FunctionInitializationContext c) throws Exception {
        BroadcastState<String, Jobs.Order> rules = c.getOperatorStateStore().getBroadcastState(RULES);
        BroadcastState<String, Long> limits = c.getOperatorStateStore().getBroadcastState(LIMITS);
        if (!Facts.on()) return;
        int me = Flink.subtask(getRuntimeContext());
        for (Map.Entry<String, Jobs.Order> e : rules.entries()) Facts.say("broadcast " + uid + "#" + me + " rules[" + e.getKey() + "]=" + e.getValue());
        for (Map.Entry<String, Long> e : limits.entries()) Facts.say("broadcast " + uid + "#" + me + " limits[" + e.getKey() + "]=" + e.getValue());
        Facts.done(uid, me);
    }

    @Override public void processElement(Tuple2<Long, Long> v, ReadOnlyContext c, Collector<String> out) {
        if (Facts.on()) Facts.say("inflight " + uid + " " + v);
    }

    @Override public void processBroadcastElement(Long v, Context c, Collector<String> out) throws Exception {
        if (Facts.on()) {
            Facts.say("inflight " + uid + " rule " + v);
            return;
        }
        if (v >= 6) return;
        c.getBroadcastState(RULES).put("rule-" + v, new Jobs.Order(v));
        c.getBroadcastState(LIMITS).put("limit-" + v, v * 100);
    }
}
