package keyed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// Raw keyed timers: what InternalTimerServiceSerializationProxy writes for each
// key group where timers are raw keyed state (all of them up to 1.5, later heap
// timers beside another backend). The handle is one of key groups; offset -1
// means nothing for the group.
//
//	version 1, 2: magic F1 CD 85 9F, i32 version; 1.3: neither
//	i32 number of services, each:
//	  utf name
//	  version 2: snap key, snap namespace; 1: resilient of the two; else jobj of
//	  the two serializers
//	  i32 n, n x (key, namespace, i64 time)   event time
//	  i32 n, n x (key, namespace, i64 time)   processing time
const timersMagic = -0x0e327a61 // F1 CD 85 9F

// maxServices bounds what is taken for a list of services where no magic says
// that it is one.
const maxServices = 1000

// ErrNotTimers says that raw keyed state is something else than timers.
var ErrNotTimers = errors.New("raw keyed state that does not look like timers")

// TimerService is a timer service of a key group.
type TimerService struct {
	Name           string
	Key, Namespace *serde.Snapshot
	// Event and Processing are numbers of timers, -1 where they cannot be reached
	// because nothing tells the length of a key or namespace.
	Event, Processing int64
}

// TimerGroup is the timers of a key group.
type TimerGroup struct {
	Group    int32
	Version  int32 // 0: not versioned
	Services []TimerService
	// Complete is not set where services are missing, or numbers of timers.
	Complete bool
}

// Timer is one raw keyed timer; its bytes are valid during the call that gives
// it.
type Timer struct {
	Group          int32
	Service        *TimerService
	Processing     bool // else event time
	Time           int64
	Key, Namespace []byte
}

// RawTimers reads the timers of every key group that has any.
func RawTimers(in, meta decoder.Input, h *metadata.KeyGroupsHandle) ([]TimerGroup, error) {
	return EachRawTimer(in, meta, h, nil)
}

// EachRawTimer is RawTimers, and calls f for each timer whose end is known.
func EachRawTimer(in, meta decoder.Input, h *metadata.KeyGroupsHandle, f func(Timer) error) ([]TimerGroup, error) {
	s := &Stream{In: in, Start: h.Start}
	if err := s.readOffsets(meta, h, true); err != nil {
		return nil, err
	}
	var out []TimerGroup
	for i, off := range s.Offsets {
		if off < 0 {
			continue
		}
		var stop error // of f
		g, err := readTimers(newSource(in, s.extent(off), false, s.path(i)), func(t Timer) error {
			if t.Group = s.Start + int32(i); f != nil {
				stop = f(t)
			}
			return stop
		})
		if stop != nil {
			return out, stop
		}
		if err != nil {
			return out, err
		}
		g.Group = s.Start + int32(i)
		out = append(out, *g)
	}
	return out, nil
}

func readTimers(c *source, f func(Timer) error) (*TimerGroup, error) {
	g := &TimerGroup{}
	n := c.i32("number of timer services")
	if n == timersMagic {
		if g.Version = c.i32("version of timers"); c.err == nil && g.Version != 1 && g.Version != 2 {
			c.fail("version 1 or 2 of timers", strconv.Itoa(int(g.Version)), decoder.ErrVersion)
		}
		n = c.i32("number of timer services")
	}
	if c.err == nil && (n < 0 || n > maxServices) {
		c.fail("a list of timer services", fmt.Sprintf("%d services", n), nil)
	}
	g.Complete = true
	for i := int32(0); i < n && c.err == nil && g.Complete; i++ {
		t := TimerService{Event: -1, Processing: -1}
		c.service(&t, g.Version)
		if c.err != nil {
			break
		}
		t.Event = int64(c.length("number of event timers", 0))
		if g.Complete = c.timers(&t, t.Event, false, f); g.Complete && c.err == nil {
			t.Processing = int64(c.length("number of processing timers", 0))
			g.Complete = c.timers(&t, t.Processing, true, f)
		}
		g.Services = append(g.Services, t)
	}
	if c.err != nil && g.Version == 0 {
		return g, fmt.Errorf("%w (%w)", ErrNotTimers, c.err)
	}
	return g, c.err
}

// service reads name and serializers.
func (c *source) service(t *TimerService, version int32) {
	c.parse("timer service", func(b []byte, partial bool) (int, error) {
		r := serde.NewReader(c.in.Name(), b, c.at())
		r.Partial = partial
		t.Name = r.UTF("service name")
		switch version {
		case 2:
			t.Key, t.Namespace = r.Snap(), r.Snap()
		case 1:
			at := r.Off()
			types := r.Resilient()
			if len(types) == 2 {
				t.Key, t.Namespace = types[0], types[1]
			} else if r.Err() == nil {
				r.FailAt(at, "two serializers", strconv.Itoa(len(types)), nil)
			}
		default:
			t.Key, t.Namespace = r.JavaSerializer(), r.JavaSerializer()
		}
		return int(r.Off() - c.at()), r.Err()
	})
}

// timers gives n timers; false where their length is not known.
func (c *source) timers(t *TimerService, n int64, processing bool, f func(Timer) error) bool {
	for ; n > 0 && c.err == nil; n-- {
		opaque := false
		timer := Timer{Service: t, Processing: processing}
		c.parse("timer", func(b []byte, _ bool) (int, error) {
			k, err := serde.Skip(t.Key, b)
			end := 0
			if err == nil {
				end, err = serde.Skip(t.Namespace, b[k:])
				end += k
			}
			if opaque = errors.Is(err, serde.ErrOpaque); opaque {
				return 0, nil
			}
			if err == nil && end+8 > len(b) {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				return 0, err
			}
			timer.Key, timer.Namespace, timer.Time = b[:k], b[k:end], int64(binary.BigEndian.Uint64(b[end:]))
			return end + 8, nil
		})
		if opaque {
			return false
		}
		if c.err == nil && f != nil {
			c.err = f(timer)
		}
	}
	return true
}

// maxParsed is the longest structure that parse holds.
const maxParsed = 64 << 20

// parse reads a structure of unknown length: f gives its length in b, which ends
// somewhere behind it. Partial says that there is more: f is then called again
// with more where it fails.
func (c *source) parse(what string, f func(b []byte, partial bool) (int, error)) {
	for c.err == nil {
		b := c.buf[c.r:c.w]
		partial := !c.ended && len(b) < maxParsed
		n, err := f(b, partial)
		switch {
		case err == nil:
			c.take(n, what)
			return
		case !partial:
			var d *decoder.Error
			if errors.As(err, &d) {
				c.err = err
			} else {
				c.fail(what, err.Error(), err)
			}
			return
		}
		c.more(max(2*len(b), 4096))
	}
}

// more tries to have n bytes in the buffer; ended is set where there are no
// more.
func (c *source) more(n int) {
	for c.err == nil && !c.ended && c.w-c.r < n {
		c.fill(n)
	}
}
