package ha

import (
	"errors"
	"io"

	"chkscope/decoder/metadata"
)

// WriteMetadata writes the `_metadata` that Flink would have written with the
// object, for a checkpoint that has lost its own: the same structures, names and
// handles, and from version 4 on the properties. Relative handles stay relative:
// it belongs into the directory of the checkpoint. Its version is that of Meta,
// so 2.1 and later get version 5 where nothing tells them from 2.0; they read it.
func (c *Checkpoint) WriteMetadata(w io.Writer) (int64, error) {
	if c.Meta.Damage != nil {
		return 0, c.Meta.Damage
	}
	m := *c.Meta
	m.Object, m.Properties.Len, m.Trailing.Len = false, 0, 0
	n, err := metadata.Encode(w, &m)
	if err != nil || m.Version < 4 {
		return n, err
	}
	props := c.root.Field("props")
	if props.IsNull() {
		return n, errors.New("the object has no properties")
	}
	k, err := c.stream.WriteNode(w, props)
	return n + k, err
}
