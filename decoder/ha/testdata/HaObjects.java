// Makes of `_metadata` files the completedCheckpoint objects that a JobManager
// with high availability would store, and pointers to them, with Flink's own
// classes on the class path:
//
//	java -cp … HaObjects.java write POINTER METADATA OBJECT …
//	java -cp … HaObjects.java pointer PATH SIZE FILE [MARKED-FILE]
//	java -cp … HaObjects.java list OBJECT …   (loads objects and says what is in them)
//
// POINTER is the directory of the checkpoint as a URI; it must be there and hold
// a _metadata. The fixtures were made with file:/checkpoints/chk-1 and
//
//	1.13.6  flink-1.13.metadata                     flink-1.13.object
//	1.15.4  flink-1.15.metadata                     flink-1.15.object
//	1.20.5  flink-1.20.metadata                     flink-1.20.object
//	2.3.0   ../../metadata/testdata/all-v6.metadata flink-2.3.object
//	2.3.0   pointer s3://bucket/ha/completedCheckpoint0123456789ab 1234 zookeeper.pointer kubernetes.pointer
//
// (the last with flink-kubernetes on the class path); the .metadata files
// here by go test -run TestFixtures -update.
import java.io.*;
import java.lang.reflect.*;
import java.nio.file.*;
import java.util.*;

import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.*;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.*;
import org.apache.flink.runtime.state.filesystem.*;

public class HaObjects {
    static CheckpointMetadata load(File file, String pointer) throws Exception {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(file)))) {
            return Checkpoints.loadCheckpointMetadata(in, HaObjects.class.getClassLoader(), pointer);
        }
    }

    static CompletedCheckpoint checkpoint(CheckpointMetadata m, String pointer, long size) throws Exception {
        Map<OperatorID, OperatorState> operators = new HashMap<>();
        for (OperatorState op : m.getOperatorStates()) {
            operators.put(op.getOperatorID(), op);
        }
        Path dir = new Path(pointer);
        FsCompletedCheckpointStorageLocation location =
                new FsCompletedCheckpointStorageLocation(
                        dir.getFileSystem(), dir, new FileStateHandle(new Path(dir, "_metadata"), size), pointer);
        CheckpointProperties properties =
                CheckpointProperties.forCheckpoint(CheckpointRetentionPolicy.RETAIN_ON_CANCELLATION);
        Constructor<?> c = longest(CompletedCheckpoint.class);
        Class<?>[] types = c.getParameterTypes();
        Object[] args = new Object[types.length];
        long[] numbers = {m.getCheckpointId(), 1000, 2000};
        int number = 0;
        boolean given = false;
        for (int i = 0; i < types.length; i++) {
            if (types[i] == JobID.class) {
                args[i] = new JobID(0x0102030405060708L, 0x1112131415161718L);
            } else if (types[i] == long.class) {
                args[i] = numbers[number++];
            } else if (types[i] == Map.class) {
                args[i] = operators;
            } else if (types[i] == Collection.class) {
                args[i] = new ArrayList<>(m.getMasterStates());
            } else if (types[i] == CheckpointProperties.class && !given) {
                args[i] = properties;
                given = true;
            } else if (types[i].isAssignableFrom(FsCompletedCheckpointStorageLocation.class)) {
                args[i] = location;
            }
        }
        c.setAccessible(true);
        return (CompletedCheckpoint) c.newInstance(args);
    }

    static Constructor<?> longest(Class<?> c) {
        Constructor<?> best = null;
        for (Constructor<?> k : c.getDeclaredConstructors()) {
            if (best == null || k.getParameterCount() > best.getParameterCount()) {
                best = k;
            }
        }
        return best;
    }

    static void store(Object o, String file) throws Exception {
        try (ObjectOutputStream out = new ObjectOutputStream(new BufferedOutputStream(Files.newOutputStream(Paths.get(file))))) {
            out.writeObject(o);
        }
    }

    static void list(String file) throws Exception {
        CompletedCheckpoint c;
        try (ObjectInputStream in = new ObjectInputStream(new BufferedInputStream(Files.newInputStream(Paths.get(file))))) {
            c = (CompletedCheckpoint) in.readObject();
        }
        System.out.println("checkpoint " + c.getCheckpointID() + " at " + c.getExternalPointer());
        for (MasterState m : c.getMasterHookStates()) {
            System.out.println("master " + m.name());
        }
        TreeMap<String, OperatorState> operators = new TreeMap<>();
        c.getOperatorStates().forEach((id, op) -> operators.put(id.toString(), op));
        operators.forEach(HaObjects::listOperator);
        // All of it goes once more through Flink's own writer.
        ByteArrayOutputStream metadata = new ByteArrayOutputStream();
        for (Method m : Checkpoints.class.getDeclaredMethods()) {
            if (m.getName().equals("storeCheckpointMetadata") && m.getParameterCount() == 2 && m.getParameterTypes()[1] == DataOutputStream.class) {
                m.setAccessible(true);
                m.invoke(null, metadata(c), new DataOutputStream(metadata));
            }
        }
        System.out.println("metadata " + (metadata.size() > 0));
    }

    static Object metadata(CompletedCheckpoint c) throws Exception {
        Constructor<?> k = longest(CheckpointMetadata.class);
        Object[] args = {c.getCheckpointID(), c.getOperatorStates().values(), c.getMasterHookStates(), c.getProperties()};
        return k.newInstance(Arrays.copyOf(args, k.getParameterCount()));
    }

    static void listOperator(String id, OperatorState op) {
        System.out.println("operator " + id + " coordinator " + (op.getCoordinatorState() == null ? -1 : op.getCoordinatorState().getStateSize()) + " subtasks " + op.getSubtaskStates().keySet());
        for (Map.Entry<Integer, OperatorSubtaskState> e : op.getSubtaskStates().entrySet()) {
            OperatorSubtaskState s = e.getValue();
            for (OperatorStateHandle h : s.getManagedOperatorState()) {
                listHandle(" " + e.getKey() + " managed ", h);
            }
            for (OperatorStateHandle h : s.getRawOperatorState()) {
                listHandle(" " + e.getKey() + " raw ", h);
            }
            for (KeyedStateHandle h : s.getManagedKeyedState()) {
                System.out.println(" " + e.getKey() + " keyed " + h.getClass().getSimpleName() + " " + h.getKeyGroupRange() + " " + h.getStateSize());
            }
            for (KeyedStateHandle h : s.getRawKeyedState()) {
                System.out.println(" " + e.getKey() + " raw keyed " + h.getClass().getSimpleName() + " " + h.getKeyGroupRange() + " " + h.getStateSize());
            }
            System.out.println(" " + e.getKey() + " channels " + s.getInputChannelState().size() + " " + s.getResultSubpartitionState().size());
        }
    }

    static void listHandle(String at, OperatorStateHandle h) {
        StreamStateHandle d = h.getDelegateStateHandle();
        System.out.println(at + h.getClass().getSimpleName() + " in " + d.getClass().getSimpleName() + " " + d.getStateSize() + (d instanceof FileStateHandle ? " " + ((FileStateHandle) d).getFilePath() : ""));
        new TreeMap<>(h.getStateNameToPartitionOffsets())
                .forEach((name, info) -> System.out.println(at + name + " " + info.getDistributionMode() + " " + Arrays.toString(Arrays.copyOf(info.getOffsets(), Math.min(8, info.getOffsets().length))) + " of " + info.getOffsets().length));
    }

    public static void main(String[] a) throws Exception {
        switch (a[0]) {
            case "write":
                for (int i = 2; i < a.length; i += 2) {
                    try {
                        store(checkpoint(load(new File(a[i]), a[1]), a[1], new File(a[i]).length()), a[i + 1]);
                    } catch (Exception e) {
                        System.out.println(a[i] + ": " + e);
                    }
                }
                break;
            case "pointer":
                Object handle = new RetrievableStreamStateHandle<Serializable>(new Path(a[1]), Long.parseLong(a[2]));
                store(handle, a[3]);
                if (a.length > 4) {
                    Class<?> marked = Class.forName("org.apache.flink.kubernetes.highavailability.KubernetesStateHandleStore$StateHandleWithDeleteMarker");
                    Constructor<?> c = longest(marked);
                    c.setAccessible(true);
                    store(c.getParameterCount() == 1 ? c.newInstance(handle) : c.newInstance(handle, false), a[4]);
                }
                break;
            default:
                for (int i = 1; i < a.length; i++) {
                    list(a[i]);
                }
        }
    }
}
