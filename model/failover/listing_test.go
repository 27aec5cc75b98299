package failover

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/decoder/ha"
	"chkscope/model"
	"chkscope/model/store"
	"chkscope/storage"
)

// cluster is an HA directory and ZooKeeper payloads as a tree of files.
type cluster struct {
	t    testing.TB
	home string
	st   *storage.Router
}

func newCluster(t testing.TB) *cluster {
	home := t.TempDir()
	c := &cluster{t, home, storage.New(storage.Options{Maps: store.Mappings{{From: "file:/checkpoints", To: filepath.Join(home, "checkpoints")}, {From: "file:/ha", To: filepath.Join(home, "ha")}}})}
	c.write("checkpoints/chk-1/_metadata", c.read("flink-1.20.metadata"))
	c.write("ha/completedCheckpoint0123456789ab", c.read("flink-1.20.object"))
	c.write("ha/submittedJobGraph0123456789ab", []byte("a job graph"))
	c.write(c.node(7), c.pointer("zookeeper.pointer", "file:/ha/completedCheckpoint0123456789ab"))
	c.write("zk/jobgraphs/0123456789abcdef0123456789abcdef", c.pointer("zookeeper.pointer", "file:/ha/submittedJobGraph0123456789ab"))
	c.write("zk/jobs/0123456789abcdef0123456789abcdef/checkpoint_id_counter", []byte{0, 0, 0, 8})
	c.write("zk/leader/latch", []byte("who leads"))
	return c
}

func (c *cluster) node(id int) string {
	return fmt.Sprintf("zk/jobs/0123456789abcdef0123456789abcdef/checkpoints/%019d", id)
}

func (c *cluster) read(name string) []byte {
	data, err := os.ReadFile(filepath.Join("..", "..", "decoder", "ha", "testdata", name))
	if err != nil {
		c.t.Fatal(err)
	}
	return data
}

func (c *cluster) write(name string, data []byte) {
	name = filepath.Join(c.home, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data, 0o644)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) remove(name string) {
	if err := os.RemoveAll(filepath.Join(c.home, filepath.FromSlash(name))); err != nil {
		c.t.Fatal(err)
	}
}

// pointer is one of Flink's own, to another file.
func (c *cluster) pointer(like, target string) []byte {
	p, err := ha.ParsePointer(c.read(like))
	if err != nil {
		c.t.Fatal(err)
	}
	out, err := p.Encode(target, 14049)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// check lists dir and gives its problems as lines.
func (c *cluster) check(dir string) (*Listing, []string) {
	c.t.Helper()
	l, err := List(context.Background(), c.st, store.FileURI(filepath.Join(c.home, dir)))
	if err != nil {
		c.t.Fatal(err)
	}
	return l, c.problems(l)
}

func (c *cluster) problems(l *Listing) []string {
	c.t.Helper()
	list, err := l.Check(context.Background(), c.st, model.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	out := []string{}
	for _, p := range list {
		out = append(out, fmt.Sprintf("%s %v %s", p.Rule, p.Critical, p.Cause))
	}
	return out
}

func TestListing(t *testing.T) {
	c := newCluster(t)
	l, problems := c.check(".")
	if len(problems) > 0 {
		t.Errorf("%q", problems)
	}
	if len(l.Entries) != 2 || len(l.Objects) != 1 || l.Counter != 8 || !l.Objects[0].Pointed {
		t.Errorf("%+v", l)
	}
	if e := l.Entries[1]; e.Checkpoint != 7 || e.Target != "file:/ha/completedCheckpoint0123456789ab" || e.Bytes != 14049 || e.JobGraph {
		t.Errorf("%+v", e)
	}
	if !l.Entries[0].JobGraph || l.Entries[0].Checkpoint != model.Unknown {
		t.Errorf("%+v", l.Entries[0])
	}
	// The tree alone, the targets found through the mapping.
	if l, problems := c.check("zk"); len(problems) > 0 || len(l.Objects) != 0 {
		t.Errorf("%q", problems)
	}
	if _, err := List(context.Background(), c.st, store.FileURI(filepath.Join(c.home, "zk", "leader"))); err == nil {
		t.Error("a directory without anything is listed")
	}
}

func TestProblems(t *testing.T) {
	for _, k := range []struct {
		name   string
		change func(*cluster)
		want   []string // parts of the problems, in order
	}{
		{"object gone", func(c *cluster) { c.remove("ha/completedCheckpoint0123456789ab") }, []string{"ha-dangling true The object file:/ha/completedCheckpoint0123456789ab is not there"}},
		{"object cut", func(c *cluster) {
			c.write("ha/completedCheckpoint0123456789ab", c.read("flink-1.20.object")[:9000])
		}, []string{"ha-dangling true The object file:/ha/completedCheckpoint0123456789ab cannot be read"}},
		{"job graph gone", func(c *cluster) { c.remove("ha/submittedJobGraph0123456789ab") }, []string{"ha-dangling true The job graph"}},
		{"pointer damaged", func(c *cluster) {
			c.write(c.node(6), c.read("zookeeper.pointer")[:300])
		}, []string{"ha-dangling true The pointer cannot be read"}},
		{"another number", func(c *cluster) {
			c.remove(c.node(7))
			c.write(c.node(5), c.pointer("zookeeper.pointer", "file:/ha/completedCheckpoint0123456789ab"))
		}, []string{"ha-stale true The entry is for checkpoint 5, its object holds checkpoint 7"}},
		{"no _metadata", func(c *cluster) { c.remove("checkpoints") }, []string{"ha-stale false Its _metadata"}},
		{"another _metadata", func(c *cluster) {
			c.write("checkpoints/chk-1/_metadata", c.read("flink-1.15.metadata"))
		}, []string{"ha-stale false The object and its _metadata do not hold the same"}},
		{"counter behind", func(c *cluster) {
			c.write("zk/jobs/0123456789abcdef0123456789abcdef/checkpoint_id_counter", []byte{0, 0, 0, 7})
		}, []string{"ha-stale false The counter says that the next checkpoint is 7"}},
	} {
		c := newCluster(t)
		k.change(c)
		_, got := c.check("zk")
		if len(got) != len(k.want) {
			t.Errorf("%s: %q", k.name, got)
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i], k.want[i]) {
				t.Errorf("%s: %q, not %q", k.name, got[i], k.want[i])
			}
		}
	}
}

// TestState: a _metadata that is not there is not one that differs.
func TestState(t *testing.T) {
	for want, change := range map[string]func(*cluster){
		"agrees":  func(*cluster) {},
		"missing": func(c *cluster) { c.remove("checkpoints") },
		"unread":  func(c *cluster) { c.write("checkpoints/chk-1/_metadata", c.read("flink-1.15.metadata")[:40]) },
		"differs": func(c *cluster) { c.write("checkpoints/chk-1/_metadata", c.read("flink-1.15.metadata")) },
	} {
		c := newCluster(t)
		change(c)
		l, err := List(context.Background(), c.st, store.FileURI(c.home))
		if err != nil {
			t.Fatal(err)
		}
		problems, err := l.Check(context.Background(), c.st, model.Options{})
		if err != nil {
			t.Fatal(err)
		}
		where := ""
		for _, e := range l.Entries {
			if !e.JobGraph {
				where = e.Where
			}
		}
		if word, _ := State(problems, where); word != want {
			t.Errorf("%s, not %s: %+v", word, want, problems)
		}
	}
}

// configMapOf is a ConfigMap of Flink on Kubernetes as kubectl prints it.
func (c *cluster) configMapOf(more int) (asJSON, asYAML string) {
	p := base64.StdEncoding.EncodeToString(c.pointer("kubernetes.pointer", "file:/ha/completedCheckpoint0123456789ab"))
	data := map[string]string{
		"checkpointID-0000000000000000007": p, "counter": "8", "leader": strings.Repeat("x", more),
		"org.apache.flink.k8s.leader.resourcemanager": `1f3c,pekko.tcp://flink@10.0.0.1:6123/user/rpc`,
	}
	doc, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "job-config-map", "labels": map[string]string{"app": "job"}}, "data": data})
	if err != nil {
		c.t.Fatal(err)
	}
	asYAML = "apiVersion: v1\ndata:\n"
	for k, v := range data {
		if k == "counter" {
			v = `"8"`
		}
		asYAML += "  " + k + ": " + v + "\n"
	}
	return string(doc), asYAML + "kind: ConfigMap\nmetadata:\n  annotations:\n    name: other\n  name: job-config-map\n  namespace: flink\n"
}

func TestConfigMap(t *testing.T) {
	c := newCluster(t)
	for _, more := range []int{0, ConfigMapWarn} {
		asJSON, asYAML := c.configMapOf(more)
		list := fmt.Sprintf(`{"apiVersion":"v1","kind":"List","items":[%s,{"kind":"Secret","data":{"counter":"9"}}]}`, asJSON)
		for i, text := range []string{asJSON, asYAML, list} {
			l, err := ReadText("stdin", strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			size := l.ConfigMaps["job-config-map"]
			if len(l.Entries) != 1 || l.Entries[0].Checkpoint != 7 || l.Entries[0].Where != "job-config-map checkpointID-0000000000000000007" || l.Counter != 8 || size < 500+int64(more) || size > 2000+int64(more) {
				t.Errorf("form %d: %+v", i, l)
			}
			problems := c.problems(l)
			if more == 0 && len(problems) > 0 || more > 0 && (len(problems) != 1 || !strings.HasPrefix(problems[0], "ha-oversized false")) {
				t.Errorf("form %d: %q", i, problems)
			}
		}
	}
	for _, bad := range []string{"", "{", "[]", "hello", `{"kind":"Pod"}`, "kind: ConfigMap"} {
		if l, err := ReadText("stdin", strings.NewReader(bad)); err == nil {
			t.Errorf("%q is %+v", bad, l)
		}
	}
}

// FuzzConfigMap: nothing from kubectl's text makes a panic.
func FuzzConfigMap(f *testing.F) {
	asJSON, asYAML := newCluster(f).configMapOf(0)
	f.Add(asJSON)
	f.Add(asYAML)
	f.Add("apiVersion: v1\nitems:\n- data:\n    counter: \"1\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		if l, err := ReadText("fuzz", strings.NewReader(text)); err == nil && l == nil {
			t.Error("neither a listing nor an error")
		}
	})
}

// TestListingReal reads what real clusters left.
func TestListingReal(t *testing.T) {
	for folder, entries := range map[string]int{"lab/1.15-ha": 4, "lab/1.18-ha": 4, "lab/1.20-ha": 4, "lab/2.1-ha": 4, "incident/ha-1.15/after-crash-0": 3, "incident/ha-1.15/after-crash-1": 3} {
		st, home := flink(t, folder)
		l, err := List(context.Background(), st, home)
		if err != nil {
			t.Fatal(err)
		}
		list, err := l.Check(context.Background(), st, model.Options{})
		if err != nil || len(list) > 0 {
			t.Errorf("%s: %v, %v", folder, list, err)
		}
		if len(l.Entries) != entries {
			t.Errorf("%s: %d entries", folder, len(l.Entries))
		}
		for _, o := range l.Objects {
			if !o.Pointed {
				t.Errorf("%s: no entry for %s", folder, o.URI)
			}
		}
	}
}
