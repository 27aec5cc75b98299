package metadata

import "chkscope/decoder"

// Len is the number of files, after an edit that of New.
func (m FileMap) Len() int {
	if m.New != nil {
		return len(m.New)
	}
	return m.Count
}

// Len is the number of handles, after an edit that of New.
func (ch Channels) Len() int {
	if ch.New != nil {
		return len(ch.New)
	}
	return ch.Count
}

// Each decodes the files again, in file order.
func (m FileMap) Each(in decoder.Input, f func(i int, s NamedStream) error) error {
	for i, s := range m.New {
		if err := f(i, s); err != nil {
			return err
		}
	}
	if m.New != nil {
		return nil
	}
	r := newReader(in, m.Span.Off, m.Span.End(), layout{})
	for i := range m.Count {
		var s NamedStream
		r.fresh("file", i)
		if r.namedStream(&s); !r.ok() {
			return r.Err()
		}
		r.Leave()
		if err := f(i, s); err != nil {
			return err
		}
	}
	return nil
}

// Load gives all files in memory, for an edit of some of them: to be changed
// and stored in New.
func (m FileMap) Load(in decoder.Input) ([]NamedStream, error) {
	list := make([]NamedStream, 0, m.Len())
	err := m.Each(in, func(_ int, s NamedStream) error {
		list = append(list, s)
		return nil
	})
	return list, err
}

// Each decodes the changes again: key group -1 is a change of metadata, data is
// where its bytes stand in the file.
func (ch Changes) Each(in decoder.Input, f func(keyGroup int32, data decoder.Span) error) error {
	if ch.New != nil {
		for _, c := range ch.New {
			if err := f(c.KeyGroup, c.Data); err != nil {
				return err
			}
		}
		return nil
	}
	r := newReader(in, ch.Span.Off, ch.Span.End(), layout{})
	for i := range ch.Count {
		r.fresh("change", i)
		keyGroup, data := r.change()
		if !r.ok() {
			return r.Err()
		}
		r.Leave()
		if err := f(keyGroup, data); err != nil {
			return err
		}
	}
	return nil
}

// Bytes is the sum of the changes' lengths.
func (ch Changes) Bytes() int64 {
	if ch.New == nil {
		return ch.Span.Len - 8*int64(ch.Count)
	}
	n := int64(0)
	for _, c := range ch.New {
		n += c.Data.Len
	}
	return n
}

// source is where the blob's bytes are read: in, or its own slice after an edit.
func (b Blob) source(in decoder.Input) (decoder.Input, decoder.Span) {
	if b.New != nil {
		return decoder.Bytes{Data: b.New, Label: "edited data"}, decoder.Span{Len: int64(len(b.New))}
	}
	return in, b.Span
}

// Input is the blob as an input of its own, named name.
func (b Blob) Input(in decoder.Input, name string) decoder.Input {
	src, s := b.source(in)
	return decoder.Section(src, s, name)
}

// Read gives the blob's bytes; more than limit are refused.
func (b Blob) Read(in decoder.Input, limit int64) ([]byte, error) {
	src, s := b.source(in)
	return decoder.ReadSpan(src, s, limit)
}
