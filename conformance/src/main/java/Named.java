import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.apache.flink.api.common.state.*;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** State under a String key: a value under namespaces of its own, a list written by merges, a list and a map with TTL, a map with null values. */
public class Named extends AbstractStreamOperator<Tuple2<Long, Long>> implements OneInputStreamOperator<Tuple2<Long, Long>, Tuple2<Long, Long>> {
    private static final String[] SPACES = {"space-a", "space-b"};
    private final String uid;
    private transient ListState<Long> merged;
    private transient ListState<String> ttlList;
    private transient MapState<String, String> ttlMap, nullMap;

    Named(String uid) { this.uid = uid; }

    @Override public void open() throws Exception {
        super.open();
        merged = state(new ListStateDescriptor<>("merged-list", Types.LONG));
        ttlList = state(withTtl(new ListStateDescriptor<>("ttl-list", Types.STRING)));
        ttlMap = state(withTtl(new MapStateDescriptor<>("ttl-map", Types.STRING, Types.STRING)));
        nullMap = state(new MapStateDescriptor<>("null-map", Types.STRING, Types.STRING));
        spaced(SPACES[0]);
        if (Facts.on()) tell();
    }

    private void tell() throws Exception {
        for (String space : SPACES) for (String key : keys("spaced", space)) say(key, "spaced@" + space, spaced(space).value());
        for (String key : keys("merged-list")) say(key, "merged-list", Enrich.list(merged.get()));
        for (String key : keys("ttl-list")) say(key, "ttl-list", Enrich.list(ttlList.get()));
        for (String key : keys("ttl-map")) for (Map.Entry<String, String> e : Enrich.list(ttlMap.entries())) say(key, "ttl-map[" + e.getKey() + "]", e.getValue());
        for (String key : keys("null-map")) for (Map.Entry<String, String> e : Enrich.list(nullMap.entries())) say(key, "null-map[" + e.getKey() + "]", e.getValue());
        Facts.done(uid, Flink.subtask(getRuntimeContext()));
    }

    private void say(String key, String state, Object value) { Facts.say("keyed " + uid + " key=" + key + " " + state + "=" + value); }

    /** The keys of a state, each made the current key as it comes. */
    private Iterable<String> keys(String state) { return keys(state, VoidNamespace.INSTANCE); }

    private <N> Iterable<String> keys(String state, N namespace) {
        KeyedStateBackend<String> backend = getKeyedStateBackend();
        Set<String> keys;
        try (Stream<String> s = backend.getKeys(state, namespace)) { keys = s.collect(Collectors.toCollection(TreeSet::new)); }
        return keys.stream().peek(backend::setCurrentKey)::iterator;
    }

    private static <S extends State, D extends StateDescriptor<S, ?>> D withTtl(D d) {
        d.enableTimeToLive(Flink.ttl(3650));
        return d;
    }

    private <S extends State> S state(StateDescriptor<S, ?> d) throws Exception { return this.<String>getKeyedStateBackend().getPartitionedState(VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, d); }

    private ValueState<String> spaced(String namespace) throws Exception {
        return this.<String>getKeyedStateBackend().getPartitionedState(namespace, StringSerializer.INSTANCE, new ValueStateDescriptor<>("spaced", Types.STRING));
    }

    @Override public void processElement(StreamRecord<Tuple2<Long, Long>> r) throws Exception {
        if (Facts.on()) {
            Facts.say("inflight " + uid + " " + r.getValue());
            return;
        }
        long v = r.getValue().f1;
        spaced(SPACES[(int) (v % 2)]).update("spaced-" + v);
        if (v < 2000) merged.add(v);
        if (v < 500) ttlList.add("e" + v);
        ttlMap.put("k" + v % 3, "v" + v);
        nullMap.put("n" + v % 3, v % 3 == 0 ? null : "v" + v);
        output.collect(r);
    }
}
