package keyed

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// Changes of the changelog backend (StateChangeFormat, AbstractStateChangeLogger):
//
//	file       u8 compressed, then, snappy framed where that is 1, change sets
//	change set i32 number of key groups, each: i32 number of changes, i32 key
//	           group, changes as i32 length and bytes
//	in memory  i32 key group, i32 length, bytes (in `_metadata`)
//
//	change of key group -1: u8 operation, i32 meta version, state record, for
//	           key-value states bool [jobj TTL], bool [default value]; u16 id,
//	           u8 type
//	others     u8 operation, u16 id, key, namespace, value
//
// The offset of an increment counts decompressed bytes behind the first byte of
// its file. Ids belong to the handle whose metadata changes define them.

// metaGroup is the key group of changes that define states.
const metaGroup = -1

// maxMeta is how long a change that defines a state may be.
const maxMeta = 16 << 20

// ChangedState is a state in a ChangeLog.
type ChangedState struct {
	ID int
	// Meta has no name where no change defined the id. It is incomplete, and
	// Opaque, where its serializers cannot be read.
	Meta serde.StateMeta
	// Changes and Bytes of them; the definition does not count as a change but its
	// bytes do.
	Changes, Bytes int64
}

// ChangeLog counts the changes of each state in one or several handles that
// follow one another.
type ChangeLog struct {
	States []*ChangedState
	byID   map[int]*ChangedState
}

// Inline adds the changes of a handle that holds them in meta (`_metadata`).
func (l *ChangeLog) Inline(meta decoder.Input, ch metadata.Changes) error {
	return ch.Each(meta, func(group int32, s decoder.Span) error {
		c := newSource(meta, s, false, groupPath(group))
		l.change(c, group, s.Len)
		return c.err
	})
}

// Increment adds the change set at an offset of a changelog file.
func (l *ChangeLog) Increment(in decoder.Input, offset int64) error {
	head := newSource(in, decoder.Span{Len: in.Size()}, false, "changelog file")
	framed := head.take(1, "compression flag")
	if framed == nil {
		return head.err
	}
	if framed[0] > 1 || offset < 0 || offset > in.Size() && framed[0] == 0 {
		return damage(in, 0, "changelog file", "compression flag 0 or 1 and an offset in the file", fmt.Sprintf("%d, %d", framed[0], offset), nil)
	}
	c := newSource(in, decoder.Span{Off: 1, Len: in.Size() - 1}, framed[0] == 1, "change set")
	c.skip(offset, "change sets before this one")
	for n := c.length("number of key groups", 0); n > 0 && c.err == nil; n-- {
		changes := c.length("number of changes", 0)
		group := c.i32("key group")
		c.path = groupPath(group)
		for ; changes > 0 && c.err == nil; changes-- {
			l.change(c, group, c.length("length of a change", 1))
		}
	}
	return c.err
}

func groupPath(group int32) string {
	if group == metaGroup {
		return "state definitions"
	}
	return fmt.Sprintf("key group %d", group)
}

// change reads a change of length n.
func (l *ChangeLog) change(c *source, group int32, n int64) {
	if c.err != nil {
		return
	}
	if group == metaGroup {
		l.define(c, n)
		return
	}
	if n < 3 {
		c.fail("a change of 3 bytes or more", strconv.FormatInt(n, 10), nil)
		return
	}
	c.take(1, "operation")
	s := l.state(c.u16("state id"))
	c.skip(n-3, "change")
	s.Changes++
	s.Bytes += n
}

func (l *ChangeLog) state(id int) *ChangedState {
	s := l.byID[id]
	if s == nil {
		s = &ChangedState{ID: id}
		l.set(s)
	}
	return s
}

func (l *ChangeLog) set(s *ChangedState) {
	if l.byID == nil {
		l.byID = map[int]*ChangedState{}
	}
	l.byID[s.ID] = s
	l.States = append(l.States, s)
}

// define reads a change that defines a state.
func (l *ChangeLog) define(c *source, n int64) {
	const ends = 1 + 4 + 3 // operation, version; id, type
	if n < ends || n > maxMeta {
		c.fail(fmt.Sprintf("a state definition of %d to %d bytes", ends, maxMeta), strconv.FormatInt(n, 10), nil)
		return
	}
	at := c.at()
	p := c.take(int(n), "state definition")
	if p == nil {
		return
	}
	version := int32(binary.BigEndian.Uint32(p[1:]))
	id := int(binary.BigEndian.Uint16(p[n-3:]))
	r := serde.NewReader(c.in.Name(), p[5:n-3], at+5)
	metas := r.StateMetas(1, serde.MetaLayout{Version: version, Keyed: true}, nil, nil)
	if len(metas) == 0 || metas[0].Name == "" && r.Err() != nil {
		c.err = r.Err()
		return
	}
	m := metas[0]
	m.Opaque = m.Opaque || r.Err() != nil
	s := l.byID[id]
	if s == nil || s.Meta.Name != "" && s.Meta.Name != m.Name {
		s = &ChangedState{ID: id}
		l.set(s)
	}
	s.Meta = m
	s.Bytes += n
}
