import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;

/**
 * The jobs. Each runs in two ways with the same graph, uids and descriptors: it makes state, or ({@link Facts#on}) it tells what it
 * was restored with and takes nothing in.
 *
 * <p>The types of values are nested here and the package has no name because serializer snapshots hold class names: a snapshot can only be
 * restored where {@code Jobs$Order} still is its name.
 *
 * <p>Options: parallelism=2 maxParallelism=16 keys=20 upTo=N (numbers that make state) throttle=MICROS (pause after each)
 * slow=MICROS (of the slow step) union=N (elements of the union list) repeat=N (each so often) without=STATE,… (not registered by the job)
 * finish=true (the source of rules ends).
 */
class Jobs {
    // ---- types of values

    /** A POJO, with a list that goes through Kryo and another POJO. */
    public static class Order implements Serializable {
        public long id;
        public String product;
        public double amount;
        public List<String> tags;
        public Address address;
        public Order() {}
        Order(long id) {
            this.id = id;
            product = "product-" + id % 17;
            amount = id * 1.25;
            tags = new ArrayList<>(Arrays.asList("t" + id % 3, "ü"));
            address = id % 4 == 0 ? null : new Address("street " + id, (int) (id % 100000));
        }
        @Override public String toString() { return id + "|" + product + "|" + amount + "|" + tags + "|" + address; }
    }

    public static class Address implements Serializable {
        public String street;
        public int zip;
        public Address() {}
        Address(String street, int zip) {
            this.street = street;
            this.zip = zip;
        }
        @Override public String toString() { return street + "/" + zip; }
    }

    /** No default constructor and private fields: Flink falls back to Kryo. */
    public static class Opaque implements Serializable {
        private final long a;
        private final String b;
        public Opaque(long a, String b) {
            this.a = a;
            this.b = b;
        }
        @Override public String toString() { return "Opaque(" + a + "," + b + ")"; }
    }

    public enum Level { LOW, MID, HIGH }

    // ---- steps without state

    /** Slows a source down; when facts are told, tells the first number that the source gives and swallows the rest. */
    public static class Throttle extends RichFlatMapFunction<Long, Long> {
        private final String source;
        private final long micros, upTo;
        private transient boolean told;
        Throttle(String source, long micros, long upTo) {
            this.source = source;
            this.micros = micros;
            this.upTo = upTo;
        }
        @Override public void flatMap(Long v, Collector<Long> out) throws Exception {
            if (Facts.on()) {
                if (!told) {
                    told = true;
                    Facts.say("source " + source + " first=" + v);
                    Facts.done(source, Flink.subtask(getRuntimeContext()));
                }
                Thread.sleep(2);
                return;
            }
            pause(micros);
            if (v < upTo) out.collect(v);
            else Thread.sleep(1);
        }

        /** A source subtask without a split ends at once, and has nothing to tell. */
        @Override public void close() { if (Facts.on()) Facts.done(source, Flink.subtask(getRuntimeContext())); }
    }

    /** A slow step: what waits before it is in unaligned checkpoints. */
    public static class Slow implements FlatMapFunction<Long, Long> {
        private final long micros;
        Slow(long micros) { this.micros = micros; }
        @Override public void flatMap(Long v, Collector<Long> out) {
            if (Facts.on()) {
                Facts.say("inflight slow " + v);
                return;
            }
            pause(micros);
            out.collect(v);
        }
    }

    static void pause(long micros) { if (micros > 0) LockSupport.parkNanos(micros * 1000); }

    public static class Pair implements MapFunction<Long, Tuple2<Long, Long>> {
        @Override public Tuple2<Long, Long> map(Long v) { return Tuple2.of(v, v); }
    }

    public static class ModKey implements KeySelector<Long, Long> {
        private final long n;
        ModKey(long n) { this.n = n; }
        @Override public Long getKey(Long v) { return v % n; }
    }

    public static class NameKey implements KeySelector<Tuple2<Long, Long>, String> {
        @Override public String getKey(Tuple2<Long, Long> v) { return "name-" + v.f1 % 7; }
    }

    // ---- graphs

    private static final long FOREVER = 4_000_000_000L;
    private final StreamExecutionEnvironment env;
    private final Options o;
    private final int parallelism;
    private final Set<String> without;

    private Jobs(StreamExecutionEnvironment env, Options o) {
        this.env = env;
        this.o = o;
        parallelism = (int) o.number("parallelism", 2);
        without = new HashSet<>(Arrays.asList(o.text("without", "").split(",")));
        env.setParallelism(parallelism);
        env.setMaxParallelism((int) o.number("maxParallelism", 16));
    }

    static void build(StreamExecutionEnvironment env, String scenario, Options o) throws Exception {
        Jobs jobs = new Jobs(env, o);
        switch (scenario) {
            case "basic": jobs.basic(); break;
            case "unaligned": jobs.unaligned(); break;
            case "legacy": jobs.legacy(); break;
            case "migrated": jobs.migrated(); break;
            case "multi": jobs.multi(); break;
            case "kafka": jobs.kafka(); break;
            default: throw new IllegalArgumentException("no scenario " + scenario);
        }
    }

    /** Keyed state of every kind, timers, split lists, a union list, broadcast state, coordinators. */
    private void basic() {
        SingleOutputStreamOperator<Tuple2<Long, Long>> pairs = enrich(numbers("numbers"), "enrich");
        Facts.expect("buffering", parallelism);
        pairs = pairs.map(new Buffering("buffering", (int) o.number("union", 7), (int) o.number("repeat", 1), Buffering.PLAIN, without)).returns(Types.TUPLE(Types.LONG, Types.LONG)).uid("buffering").name("Buffering");
        Facts.expect("named", parallelism);
        pairs = pairs.keyBy(new NameKey()).transform("Named", Types.TUPLE(Types.LONG, Types.LONG), new Named("named")).uid("named").name("Named");
        Facts.expect("with-rules", parallelism);
        DataStream<Long> rules = numbers("rules-source", 1, 1000, 12, o.on("finish") ? 40 : FOREVER);
        pairs.connect(rules.broadcast(WithRules.RULES, WithRules.LIMITS)).process(new WithRules("with-rules")).returns(Types.STRING).uid("with-rules").name("With rules");
    }

    /** In-flight data on a rebalance and on a keyed exchange. */
    private void unaligned() {
        DataStream<Long> in = numbers("numbers", parallelism, 0, o.number("upTo", FOREVER), FOREVER);
        enrich(in.rebalance().flatMap(new Slow(o.number("slow", 20_000))).returns(Types.LONG).uid("slow").name("Slow"), "enrich");
    }

    /** The operator orders-source is the old Kafka consumer: a union list written by Kafka's own serializer. */
    private void legacy() {
        DataStream<Tuple2<Long, Long>> in = numbers("ticks").map(new Pair()).returns(Types.TUPLE(Types.LONG, Types.LONG)).uid("pair");
        Facts.expect("orders-source", parallelism);
        in.map(new Buffering("orders-source", (int) o.number("union", 8), 1, Buffering.KAFKA, Set.of("buffered-elements", "pending-orders"))).returns(Types.TUPLE(Types.LONG, Types.LONG)).uid("orders-source").name("Source: orders");
    }

    /** The same uid is a new source. Nothing registers the old union list any more, and each restore multiplies it. */
    private void migrated() { enrich(numbers("orders-source"), "enrich"); }

    /** Twelve operators with state, two of them without a uid. */
    private void multi() {
        DataStream<Long> in = numbers("numbers");
        for (int i = 1; i <= 8; i++) {
            String name = "step-" + i;
            Facts.expect(name, parallelism);
            SingleOutputStreamOperator<Long> step = in.map(new Step(name, i % 3 == 0)).returns(Types.LONG).name("Step " + i);
            if (i != 3 && i != 7) step = step.uid(name);
            in = i % 4 == 0 ? step.rebalance() : step;
        }
        enrich(in, "enrich-a");
        enrich(in, "enrich-b");
    }

    /** A real KafkaSource: incident/Topics.java, only built with Flink 1.15. */
    @SuppressWarnings("unchecked")
    private void kafka() throws Exception {
        String uid = "orders-source";
        Facts.expectSource(uid, parallelism); // which partitions come to which subtask is not known: all is told when nothing more is
        Object in = Class.forName("Topics").getDeclaredMethod("read", StreamExecutionEnvironment.class, String.class, Options.class).invoke(null, env, uid, o);
        enrich((DataStream<Long>) in, "enrich");
    }

    private SingleOutputStreamOperator<Long> numbers(String uid) { return numbers(uid, parallelism, o.number("throttle", 2000), o.number("upTo", FOREVER), FOREVER); }

    private SingleOutputStreamOperator<Long> numbers(String uid, int parallelism, long micros, long upTo, long last) {
        Facts.expectSource(uid, parallelism);
        return env.fromSource(new NumberSequenceSource(0, last), WatermarkStrategy.noWatermarks(), uid).uid(uid).setParallelism(parallelism)
                .flatMap(new Throttle(uid, micros, upTo)).returns(Types.LONG).uid(uid + "-throttle").name("Throttle " + uid).setParallelism(parallelism);
    }

    private SingleOutputStreamOperator<Tuple2<Long, Long>> enrich(DataStream<Long> in, String uid) {
        Facts.expect(uid, parallelism);
        return in.keyBy(new ModKey(o.number("keys", 20))).transform("Enrich", Types.TUPLE(Types.LONG, Types.LONG), new Enrich(uid, without)).uid(uid).name("Enrich " + uid);
    }
}
