package serde

import (
	"errors"

	"chkscope/decoder"
	"chkscope/decoder/javaobj"
)

// javaObject reads the Java object stream at the start of buf, which may go on
// behind it. It gives the class of the object (for a java.lang.Class the class
// that it is) and how many bytes the stream takes.
func javaObject(buf []byte) (class string, n int, err error) {
	s, n, err := javaobj.Parse(buf)
	if err != nil {
		return "", 0, err
	}
	root := s.Root()
	if c := root.Class(); c != nil {
		class = c.Name
	}
	return class, n, nil
}

// javaCause is the cause inside the damage of a Java object stream.
func javaCause(err error) error {
	var d *decoder.Error
	if errors.As(err, &d) {
		return d.Err
	}
	return err
}
