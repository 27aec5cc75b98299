import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;

/** A step with one list state, for long chains. */
public class Step extends RichMapFunction<Long, Long> implements CheckpointedFunction {
    private final String name;
    private final boolean union;

    Step(String name, boolean union) {
        this.name = name;
        this.union = union;
    }

    @Override public Long map(Long v) { return v; }

    @Override public void snapshotState(FunctionSnapshotContext c) {}

    @Override public void initializeState(FunctionInitializationContext c) throws Exception {
        ListStateDescriptor<String> d = new ListStateDescriptor<>(name + "-state", Types.STRING);
        ListState<String> seen = union ? c.getOperatorStateStore().getUnionListState(d) : c.getOperatorStateStore().getListState(d);
        int me = Flink.subtask(getRuntimeContext());
        if (!c.isRestored() && !Facts.on()) for (int i = 0; i < 2; i++) seen.add(name + "/" + me + "/" + i);
        if (Facts.on()) tell(seen, me);
        if (union && c.isRestored()) Buffering.keepShare(seen, me, Flink.parallelism(getRuntimeContext()));
    }

    private void tell(ListState<String> seen, int me) throws Exception {
        for (String x : seen.get()) Facts.say((union ? "union " : "list ") + name + "#" + me + " " + name + "-state=" + x);
        Facts.done(name, me);
    }
}
