package prune

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/ha"
	"chkscope/model"
	"chkscope/model/failover"
	"chkscope/model/store"
)

// PointerPlan is a pointer that is written anew, so that it leads to the new
// object where that lies. chkscope talks to no cluster: what is written are files
// to hand to kubectl, or the bytes of a ZooKeeper node, there and back.
type PointerPlan struct {
	failover.Pointer `json:"at"`

	Target string   `json:"target"` // of the new pointer: the new object as Flink sees it
	Files  []string `json:"files"`  // URIs of the files: there, and back
}

func (p *PointerPlan) files() []string {
	if p == nil {
		return nil
	}
	return p.Files
}

// Names of the files for a ConfigMap and for a node; each with its way back.
var (
	patchFiles = []string{"configmap-patch.json", "configmap-patch-back.json"}
	nodeFiles  = []string{"znode", "znode-back"}
)

// addPointer plans the new pointer.
func (p *Plan) addPointer(at *failover.Pointer) error {
	if at == nil {
		return nil
	}
	if at.Payload == nil {
		return refuse("pointer-lost-bytes", "", fmt.Sprintf("the text of %s has lost bytes of the pointer, so no new one can be made of it; %s; or give the object alone, whose pointer may stay as it is", at.Where, failover.PrintAgain), "")
	}
	old, err := ha.ParsePointer(at.Payload)
	if err != nil {
		return fmt.Errorf("%s: %w", at.Where, err)
	}
	switch {
	case old.MarkedForDeletion:
		return refuse("pointer-marked", "", fmt.Sprintf("%s is marked for deletion: Flink does not take a checkpoint from it", at.Where), "")
	case store.Base(old.Handle.Name) != objectName(p.Object.Source):
		return refuse("pointer-elsewhere", "", fmt.Sprintf("%s leads to %s and not to the object %s", at.Where, decoder.Text(old.Handle.Name), p.Object.Source), "")
	}
	n := &PointerPlan{Pointer: *at, Target: absoluteDir(p.Object.URI), Files: []string{}}
	names := nodeFiles
	if at.ConfigMap != "" {
		names = patchFiles
	}
	if p.Destination != "" {
		for _, name := range names {
			n.Files = append(n.Files, p.beside(name))
		}
	}
	p.Object.Pointer = n
	return nil
}

// contents gives what the files hold, in their order.
func (n *PointerPlan) contents(size int64) ([][]byte, error) {
	old, err := ha.ParsePointer(n.Payload)
	if err != nil {
		return nil, err
	}
	fresh, err := old.Encode(n.Target, size)
	if err != nil {
		return nil, err
	}
	if again, err := ha.ParsePointer(fresh); err != nil || again.Handle.Name != n.Target || again.Handle.Size != size {
		return nil, fmt.Errorf("%s: the new pointer does not read as it should: %v", n.Where, err)
	}
	if n.ConfigMap == "" {
		back, err := old.Encode(old.Handle.Name, old.Handle.Size) // without what a client printed behind it
		return [][]byte{fresh, back}, err
	}
	there, err := patch(n.Key, string(n.Payload), string(fresh))
	if err != nil {
		return nil, err
	}
	back, err := patch(n.Key, string(fresh), string(n.Payload))
	return [][]byte{there, back}, err
}

// patch is a JSON patch (RFC 6902) of one key of a ConfigMap. Kubernetes refuses
// it where the key does not hold from any more.
func patch(key, from, to string) ([]byte, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value string `json:"value"`
	}
	path := "/data/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
	b, err := json.MarshalIndent([]operation{{"test", path, from}, {"replace", path, to}}, "", "  ")
	return append(b, '\n'), err
}

// writePointers writes the files, and reads them back.
func (a *application) writePointers(ctx context.Context) error {
	n := a.plan.Object.Pointer
	if n == nil {
		return nil
	}
	list, err := n.contents(a.plan.Object.Bytes.After)
	if err != nil {
		return err
	}
	for i, uri := range n.Files {
		if !a.dest.beside[store.Base(uri)] {
			err = writeFile(ctx, a.ws, uri, func(w io.Writer) error {
				_, err := w.Write(list[i])
				return err
			})
		}
		if err == nil {
			err = a.holds(ctx, uri, list[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// holds reads a small file back.
func (a *application) holds(ctx context.Context, uri string, want []byte) error {
	in, err := a.ws.Open(ctx, uri)
	if err != nil {
		return err
	}
	defer in.Close()
	got, err := decoder.ReadSpan(in, decoder.Span{Len: in.Size()}, int64(len(want)))
	if err == nil && !bytes.Equal(got, want) {
		err = fmt.Errorf("%s does not hold what was written: something else wrote it", uri)
	}
	return err
}

// localFile is a file for a command: its path where it is local.
func localFile(uri string) string {
	if p, ok := store.LocalPath(uri); ok {
		return p
	}
	return uri
}

func localWord(uri string) string { return model.ShellWord(localFile(uri)) }

// commands give the new pointer to the cluster, and the old one back.
func (n *PointerPlan) commands(checkpoint int64) (there, back string) {
	command := func(file string) string {
		if n.ConfigMap != "" {
			namespace := "NAMESPACE"
			if n.Namespace != "" {
				namespace = model.ShellWord(n.Namespace)
			}
			return fmt.Sprintf("kubectl -n %s patch configmap %s --type json --patch-file %s", namespace, model.ShellWord(n.ConfigMap), localWord(file))
		}
		node := fmt.Sprintf("/…/checkpoints/%019d", checkpoint)
		if n.Node != "" {
			node = model.ShellWord(n.Node)
		}
		return fmt.Sprintf(`zkCli.sh -server HOST:2181 set -b %s "$(base64 < %s | tr -d '\n')"`, node, localWord(file))
	}
	return command(n.Files[0]), command(n.Files[1])
}
