import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.state.*;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.formats.avro.typeutils.GenericRecordAvroTypeInfo;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.operators.InternalTimerService;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.util.Collector;

/** Every kind of keyed state under a Long key, and timers of both kinds. Tells all keys, values and timers before any record comes in. */
public class Enrich extends KeyedProcessOperator<Long, Long, Tuple2<Long, Long>> {
    private final String uid;

    Enrich(String uid, Set<String> without) {
        super(new States(without));
        this.uid = uid;
    }

    @Override public void open() throws Exception {
        super.open();
        if (!Facts.on()) return;
        int subtask = Flink.subtask(getRuntimeContext());
        KeyedStateBackend<Long> backend = getKeyedStateBackend();
        Set<Long> keys = new TreeSet<>();
        for (Cell cell : cells()) {
            try (Stream<Long> s = backend.getKeys(cell.name, VoidNamespace.INSTANCE)) {
                List<Long> l = s.distinct().collect(Collectors.toList());
                keys.addAll(l);
                Facts.say("keys " + uid + "#" + subtask + " " + cell.name + "=" + l.size());
            }
        }
        for (Long key : keys) {
            setCurrentKey(key);
            for (Cell cell : cells()) cell.tell.run("keyed " + uid + " key=" + key + " " + cell.name);
        }
        InternalTimerService<VoidNamespace> timers = getInternalTimerService("user-timers", VoidNamespaceSerializer.INSTANCE, this);
        timers.forEachEventTimeTimer((ns, at) -> Facts.say("timer " + uid + " event key=" + getCurrentKey() + " at=" + at));
        timers.forEachProcessingTimeTimer((ns, at) -> Facts.say("timer " + uid + " processing key=" + getCurrentKey() + " at=" + at));
        Facts.done(uid, subtask);
    }

    private List<Cell> cells() { return ((States) userFunction).all; }

    private interface Update { void run(long v) throws Exception; }
    private interface Tell { void run(String at) throws Exception; }

    /** A registered state: how a number changes it, how its facts under the current key are told. */
    private static class Cell {
        final String name;
        final Update update;
        final Tell tell;
        Cell(String name, Update update, Tell tell) {
            this.name = name;
            this.update = update;
            this.tell = tell;
        }
    }

    public static class States extends KeyedProcessFunction<Long, Long, Tuple2<Long, Long>> implements CheckpointedFunction {
                private final Set<String> without;
        private transient List<Cell> all;
        private transient KeyedStateStore store;

        States(Set<String> without) { this.without = without; }

        @Override public void snapshotState(FunctionSnapshotContext c) {}

        @Override public void initializeState(FunctionInitializationContext c) throws Exception {
            store = c.getKeyedStateStore();
            all = new ArrayList<>();
            value("last-amount", Types.LONG, v -> v);
            value("order", TypeInformation.of(Jobs.Order.class), Jobs.Order::new);
            value("address", TypeInformation.of(Jobs.Address.class), v -> new Jobs.Address("street " + v, (int) (v % 1000)));
            value("opaque", TypeInformation.of(Jobs.Opaque.class), v -> new Jobs.Opaque(v, "opaque-" + v));
            value("level", TypeInformation.of(Jobs.Level.class), v -> Jobs.Level.values()[(int) (v % 3)]);
            value("blob", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO, v -> new byte[] {(byte) v, 1, 2, 3});
            value("tuple", Types.TUPLE(Types.STRING, Types.INT, Types.BOOLEAN), v -> Tuple3.of("t" + v, (int) (v % 1000), v % 2 == 0));
            value("click-avro", new GenericRecordAvroTypeInfo(click()), States::click);
            ValueStateDescriptor<String> session = new ValueStateDescriptor<>("session-ttl", Types.STRING);
            session.enableTimeToLive(Flink.ttl(3650));
            value(session, v -> "session-" + v);
            recentProducts();
            perProduct();
            history();
            sum();
            aggregate();
        }

        private boolean has(String name) { return !without.contains(name); }

        private <T> void value(String name, TypeInformation<T> type, LongFunction<T> of) { value(new ValueStateDescriptor<>(name, type), of); }

        private <T> void value(ValueStateDescriptor<T> d, LongFunction<T> of) {
            if (!has(d.getName())) return;
            ValueState<T> s = store.getState(d);
            all.add(new Cell(d.getName(), v -> s.update(of.apply(v)), at -> Facts.say(at + "=" + show(s.value()))));
        }

        private void recentProducts() {
            if (!has("recent-products")) return;
            ListState<String> s = store.getListState(new ListStateDescriptor<>("recent-products", Types.STRING));
            all.add(new Cell("recent-products", v -> {
                s.add("product-" + v % 17);
                List<String> l = list(s.get());
                if (l.size() > 8) s.update(l.subList(4, 8));
            }, at -> Facts.say(at + "=" + list(s.get()))));
        }

        private void perProduct() {
            if (!has("per-product")) return;
            MapState<String, Long> s = store.getMapState(new MapStateDescriptor<>("per-product", Types.STRING, Types.LONG));
            all.add(new Cell("per-product", v -> {
                Long n = s.get("product-" + v % 5);
                s.put("product-" + v % 5, n == null ? 1 : n + 1);
            }, at -> tellMap(at, s)));
        }

        private void history() {
            if (!has("history")) return;
            MapState<Long, Jobs.Order> s = store.getMapState(new MapStateDescriptor<>("history", Types.LONG, TypeInformation.of(Jobs.Order.class)));
            all.add(new Cell("history", v -> {
                if (s.get(v % 3) == null) s.put(v % 3, new Jobs.Order(v));
            }, at -> tellMap(at, s)));
        }

        private void sum() {
            if (!has("sum")) return;
            ReducingState<Long> s = store.getReducingState(new ReducingStateDescriptor<>("sum", new Sum(), Types.LONG));
            all.add(new Cell("sum", s::add, at -> Facts.say(at + "=" + s.get())));
        }

        private void aggregate() {
            if (!has("aggregate")) return;
            AggregatingState<Long, String> s = store.getAggregatingState(new AggregatingStateDescriptor<>("aggregate", new Concat(), Types.TUPLE(Types.STRING, Types.LONG)));
            all.add(new Cell("aggregate", v -> s.add(v % 10), at -> Facts.say(at + "=" + s.get())));
        }

        private static void tellMap(String at, MapState<?, ?> s) throws Exception {
            for (Map.Entry<?, ?> e : list(s.entries())) Facts.say(at + "[" + e.getKey() + "]=" + e.getValue());
        }

        @Override public void processElement(Long v, Context c, Collector<Tuple2<Long, Long>> out) throws Exception {
            if (Facts.on()) {
                Facts.say("inflight enrich " + v);
                return;
            }
            for (Cell cell : all) cell.update.run(v);
            if (v % 7 == 0) c.timerService().registerProcessingTimeTimer(YEAR_2100 + v % 100);
            if (v % 11 == 0) c.timerService().registerEventTimeTimer(YEAR_2100 + v % 100);
            out.collect(Tuple2.of(c.getCurrentKey(), v));
        }

        private static final long YEAR_2100 = 4102444800000L;

        private static Schema click() {
            return new Schema.Parser().parse("{\"type\":\"record\",\"name\":\"Click\",\"namespace\":\"lab\",\"fields\":[{\"name\":\"page\",\"type\":\"string\"},"
                    + "{\"name\":\"n\",\"type\":\"int\"},{\"name\":\"at\",\"type\":[\"null\",\"long\"]}]}");
        }

        private static GenericRecord click(long v) {
            GenericRecord r = new GenericData.Record(click());
            r.put("page", "/p/" + v % 9);
            r.put("n", (int) (v % 1000));
            r.put("at", v % 2 == 0 ? null : v);
            return r;
        }
    }

    static <T> List<T> list(Iterable<T> it) {
        List<T> l = new ArrayList<>();
        if (it != null) it.forEach(l::add);
        return l;
    }

    private static String show(Object v) { return v instanceof byte[] ? Arrays.toString((byte[]) v) : String.valueOf(v); }

    public static class Sum implements ReduceFunction<Long> {
        @Override public Long reduce(Long a, Long b) { return a + b; }
    }

    public static class Concat implements AggregateFunction<Long, Tuple2<String, Long>, String> {
        @Override public Tuple2<String, Long> createAccumulator() { return Tuple2.of("", 0L); }
        @Override public Tuple2<String, Long> add(Long v, Tuple2<String, Long> a) { return Tuple2.of(a.f0.length() > 20 ? "" + v : a.f0 + v, a.f1 + 1); }
        @Override public String getResult(Tuple2<String, Long> a) { return a.f0 + "#" + a.f1; }
        @Override public Tuple2<String, Long> merge(Tuple2<String, Long> a, Tuple2<String, Long> b) { return Tuple2.of(a.f0 + b.f0, a.f1 + b.f1); }
    }
}
