// Writes the object streams that the tests read, and reads streams that the
// tests edited:
//
//	java Streams.java write DIRECTORY
//	java Streams.java read FILE       (an edited shared.ser)
import java.io.*;
import java.lang.reflect.*;
import java.math.*;
import java.nio.file.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;

public class Streams {
    enum Color {
        RED,
        GREEN {
            @Override
            public String toString() {
                return "a body of its own";
            }
        }
    }

    static class Base implements Serializable {
        private static final long serialVersionUID = 1;
        int number = 7;
        String text = "base";
    }

    static class Derived extends Base {
        private static final long serialVersionUID = 2;
        long number = 1L << 40; // the same name as in Base
        short small = -2;
        byte tiny = -1;
        char letter = 'x';
        boolean yes = true;
        float half = 0.5f;
        double third = 1.0 / 3;
        byte[] raw = {1, 2, 3};
        Color color = Color.GREEN;
        Base self;
    }

    /** Field values, then data of its own. */
    static class Custom implements Serializable {
        private static final long serialVersionUID = 3;
        String name = "custom";
        Object shared;

        Custom(Object shared) {
            this.shared = shared;
        }

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.defaultWriteObject();
            out.writeInt(77);
            out.writeObject(new int[] {77, 78});
            out.writeByte(5);
        }

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            in.defaultReadObject();
            if (in.readInt() != 77 || ((int[]) in.readObject())[1] != 78 || in.readByte() != 5) {
                throw new IOException("not what was written");
            }
        }
    }

    /** Data of its own in the place of its field values. */
    static class NoFields implements Serializable {
        private static final long serialVersionUID = 4;
        int hidden = 42;
        String other = "other";

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.writeInt(hidden);
            out.writeObject(other);
        }
    }

    public static class External implements Externalizable {
        private static final long serialVersionUID = 5;
        int length = 2000;

        public void writeExternal(ObjectOutput out) throws IOException {
            out.writeInt(9);
            out.writeObject("external");
            out.write(new byte[length]);
        }

        public void readExternal(ObjectInput in) {}
    }

    static class Link implements Serializable {
        private static final long serialVersionUID = 6;
        Link next;
        int id;
        byte[] payload;

        Link(int id, int length) {
            this.id = id;
            payload = new byte[length];
        }
    }

    static class Annotated extends ObjectOutputStream {
        Annotated(OutputStream out) throws IOException {
            super(out);
        }

        @Override
        protected void annotateClass(Class<?> c) throws IOException {
            writeUTF("annotation");
            writeObject("of " + c.getSimpleName());
        }
    }

    static class Handler implements InvocationHandler, Serializable {
        private static final long serialVersionUID = 7;

        public Object invoke(Object proxy, Method method, Object[] args) {
            return null;
        }
    }

    static class Broken implements Serializable {
        private static final long serialVersionUID = 8;
        int before = 1;
        Object[] inside = {"first", new Object(), "never written"};
    }

    static Object everything() {
        LinkedHashMap<String, Object> m = new LinkedHashMap<>();
        Base shared = new Base();
        m.put("hashmap", new HashMap<>(Map.of("k1", 1, "k2", 2L, "k3", 3.5)));
        m.put("list", new ArrayList<>(Arrays.asList("a", "b", null, "a", 'c', (short) 4, (byte) 5, true, 1.5f)));
        m.put("linkedlist", new LinkedList<>(List.of(1, 2, 3)));
        m.put("deque", new ArrayDeque<>(List.of(1, 2)));
        m.put("hashset", new HashSet<>(List.of("x", "y")));
        m.put("treeset", new TreeSet<>(List.of("x", "y")));
        m.put("treemap", new TreeMap<>(Map.of("t", shared)));
        m.put("concurrent", new ConcurrentHashMap<>(Map.of("c1", "v1", "c2", "v2")));
        m.put("immutable", List.of("i1", "i2", "i3"));
        m.put("immutablemap", Map.of("i", 1));
        m.put("unmodifiable", Collections.unmodifiableMap(new HashMap<>(Map.of("u", 1))));
        m.put("unmodifiablelist", Collections.unmodifiableList(new ArrayList<>(List.of("u"))));
        m.put("singleton", Collections.singleton("one"));
        m.put("singletonmap", Collections.singletonMap("key", "value"));
        m.put("empty", Collections.emptyList());
        m.put("aslist", Arrays.asList(1, 2));
        m.put("enum", Color.RED);
        m.put("enum2", Color.GREEN);
        m.put("enumset", EnumSet.of(Color.RED));
        Derived d = new Derived();
        d.self = d;
        m.put("derived", d);
        m.put("custom", new Custom(shared));
        m.put("nofields", new NoFields());
        m.put("nofields2", new NoFields());
        m.put("external", new External());
        m.put("proxy", Proxy.newProxyInstance(Streams.class.getClassLoader(), new Class<?>[] {Runnable.class, Comparable.class}, new Handler()));
        m.put("class", String.class);
        m.put("primitiveclass", int.class);
        m.put("dates", new ArrayList<>(List.of(new Date(1700000000000L), Instant.ofEpochSecond(5), LocalDate.of(2024, 2, 29))));
        m.put("big", new BigDecimal("123.456"));
        m.put("uuid", new UUID(1, 2));
        m.put("arrays", new Object[] {new boolean[] {true, false}, new char[] {'x'}, new short[] {1}, new int[] {2}, new long[] {3}, new float[] {4}, new double[] {5}, new byte[0], new String[][] {{"n", null}, {}}});
        m.put("longstring", "\u00e9\u0000\ud83d\ude00".repeat(7000));
        m.put("null", null);
        m.put("shared", shared);
        m.put("throwable", new IllegalStateException("boom"));
        return m;
    }

    static ObjectOutputStream to(Path dir, String name) throws IOException {
        return new ObjectOutputStream(new BufferedOutputStream(Files.newOutputStream(dir.resolve(name))));
    }

    static void write(Path dir) throws Exception {
        try (ObjectOutputStream o = to(dir, "everything.ser")) {
            o.writeInt(12345);
            o.writeUTF("top");
            o.write(new byte[3000]);
            o.writeObject(everything());
            o.writeUnshared(new Base());
            o.writeUnshared(new Base());
            o.reset();
            o.writeObject(new Derived());
            o.writeLong(1);
        }
        try (ObjectOutputStream o = to(dir, "exception.ser")) {
            o.writeObject("before");
            try {
                o.writeObject(new ArrayList<>(List.of("x", new Broken(), "y")));
            } catch (NotSerializableException e) {
                o.writeObject("before");
                o.writeObject(new Base());
            }
        }
        try (ObjectOutputStream o = new Annotated(Files.newOutputStream(dir.resolve("annotated.ser")))) {
            o.writeObject(new Derived());
        }
        // "b" holds the first occurrence of Link, byte[], Derived and of shared objects.
        Link shared = new Link(1, 10);
        shared.next = new Link(2, 20);
        Base base = new Derived();
        HashMap<String, Object> m = new HashMap<>();
        m.put("a", 1);
        m.put("b", new Object[] {shared, base, "in b", Color.GREEN});
        m.put("c", new Object[] {shared.next, shared, base, Color.GREEN, new Custom(shared)});
        m.put("d", new ArrayList<>(List.of("d0", "d1", "d2")));
        try (ObjectOutputStream o = to(dir, "shared.ser")) {
            o.writeObject(m);
            o.writeObject(shared);
            o.writeUTF("end");
        }
        External external = new External();
        external.length = 20;
        try (ObjectOutputStream o = to(dir, "kinds.ser")) { // small, for the fuzzer
            o.writeObject(new Object[] {Color.RED, external, new NoFields(), String.class, new UUID(1, 2), new long[] {3}, Collections.singleton("one"), new TreeMap<>(Map.of("t", 1)),
                    Proxy.newProxyInstance(Streams.class.getClassLoader(), new Class<?>[] {Runnable.class}, new Handler())});
            o.reset();
            o.writeLong(1);
        }
        Link head = new Link(0, 1);
        Link last = head;
        for (int i = 1; i < 1000; i++) {
            last.next = new Link(i, 1);
            last = last.next;
        }
        try (ObjectOutputStream o = to(dir, "deep.ser")) {
            o.writeObject(head);
        }
    }

    static void read(Path file) throws Exception {
        try (ObjectInputStream in = new ObjectInputStream(Files.newInputStream(file))) {
            HashMap<?, ?> m = (HashMap<?, ?>) in.readObject();
            Link shared = (Link) in.readObject();
            System.out.println("keys " + new TreeSet<>(m.keySet()) + ", then " + in.readUTF());
            System.out.println("d " + m.get("d"));
            System.out.println("shared " + shared.id + " " + Arrays.toString(shared.payload) + ", next " + shared.next.id + " " + shared.next.payload.length);
            Object[] c = (Object[]) m.get("c");
            System.out.println("identity " + (c[0] == shared.next) + " " + (c[1] == shared) + " " + (((Custom) c[4]).shared == shared));
            System.out.println("derived " + ((Derived) c[2]).number + " " + ((Base) c[2]).text + ", enum " + ((Enum<?>) c[3]).name());
            System.out.println("left " + in.available());
        }
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("write")) {
            write(Path.of(args[1]));
        } else {
            read(Path.of(args[1]));
        }
    }
}
