package storagetest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Fault is what a Proxy does to one request. The zero value does nothing.
type Fault struct {
	Latency time.Duration // before anything else
	// Hold keeps the request until it is closed, or the client has gone.
	Hold  <-chan struct{}
	Reset bool // cut the connection without an answer
	// LoseAnswer lets the server do the request and cuts the connection then.
	LoseAnswer bool
	// Cut, if not nil, ends the connection after so many bytes of the answer.
	Cut *int64
	// Status is answered instead of the server's, with Code in the XML body.
	Status  int
	Code    string
	Message string
	Header  map[string]string
	// Change may alter the request before it is passed on.
	Change func(*http.Request)
}

// Proxy stands between a client and an S3 server.
type Proxy struct {
	URL string

	mu       sync.Mutex
	fault    func(*http.Request) Fault
	requests []string
}

// StartProxy starts a proxy for target for the time of the test.
func StartProxy(t testing.TB, target string) *Proxy {
	p := &Proxy{}
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.serve(w, r, transport, target)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	p.URL = server.URL
	return p
}

// Inject makes f decide over every request from now on; nil lets all pass.
func (p *Proxy) Inject(f func(*http.Request) Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.requests = f, nil
}

// Times gives fault to the first n requests that match, and lets others pass.
func Times(n int, match func(*http.Request) bool, fault Fault) func(*http.Request) Fault {
	var mu sync.Mutex
	return func(r *http.Request) Fault {
		mu.Lock()
		defer mu.Unlock()
		if n > 0 && match(r) {
			n--
			return fault
		}
		return Fault{}
	}
}

// Requests gives "METHOD path?query" of all requests since the last Inject.
func (p *Proxy) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, transport *http.Transport, target string) {
	p.mu.Lock()
	p.requests = append(p.requests, r.Method+" "+r.URL.RequestURI())
	decide := p.fault
	p.mu.Unlock()
	var f Fault
	if decide != nil {
		f = decide(r)
	}
	time.Sleep(f.Latency)
	if f.Hold != nil {
		select {
		case <-f.Hold:
		case <-r.Context().Done():
		}
	}
	switch {
	case f.Reset:
		reset(w)
		return
	case f.Status != 0:
		io.Copy(io.Discard, r.Body)
		answer(w, r, f)
		return
	}
	// The client signed the Host it sent, so it stays.
	out, err := http.NewRequestWithContext(r.Context(), r.Method, target+r.URL.RequestURI(), r.Body)
	if err != nil {
		reset(w)
		return
	}
	out.Header, out.Host, out.ContentLength = r.Header.Clone(), r.Host, r.ContentLength
	if r.ContentLength == 0 {
		out.Body = nil
	}
	if f.Change != nil {
		f.Change(out)
	}
	resp, err := transport.RoundTrip(out)
	if err != nil || f.LoseAnswer {
		if err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		reset(w)
		return
	}
	defer resp.Body.Close()
	for k, v := range resp.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(resp.StatusCode)
	if f.Cut != nil {
		io.CopyN(w, resp.Body, *f.Cut)
		w.(http.Flusher).Flush()
		reset(w)
		return
	}
	io.Copy(w, resp.Body)
}

func answer(w http.ResponseWriter, r *http.Request, f Fault) {
	for k, v := range f.Header {
		w.Header().Set(k, v)
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(f.Status)
	if r.Method != http.MethodHead {
		fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>%s</Message><RequestId>1</RequestId></Error>`, f.Code, f.Message)
	}
}

// reset cuts the connection so that the client sees ECONNRESET.
func reset(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}
