package metadata

import (
	"net"
	"net/http"
	"strconv"
	"time"
)

// Fault is a way in which a path answers wrongly, for ever unless Times says
// how often.
type Fault struct {
	serve   http.HandlerFunc
	limited bool
	left    int
}

// Times is the same fault, healed after n answers.
func (f Fault) Times(n int) Fault {
	f.limited, f.left = true, n
	return f
}

// spent counts one use and says whether the fault has healed before it.
func (f *Fault) spent() bool {
	f.left--
	return f.limited && f.left < 0
}

// Status answers with this status and an HTML page: 401 as for an expired
// token, 404, 429, 500.
func Status(code int) Fault {
	return Fault{serve: func(w http.ResponseWriter, _ *http.Request) { refuse(w, code) }}
}

// Text answers 200 with this text: a CIDR with a newline in it, say.
func Text(text string) Fault {
	return Fault{serve: func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(text)) }}
}

// HTML answers 200 with an HTML page, as a captive portal does.
func HTML() Fault { return Text(page("Please sign in")) }

// Garbage answers 200 with bytes that are no text.
func Garbage() Fault { return Text("\x00\xff\xfe\x1b[2J\x80/16\r\x00") }

// Hang never answers; it ends when the client goes away.
func Hang() Fault {
	return Fault{serve: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}
}

// Reset ends the connection with a TCP reset.
func Reset() Fault {
	return Fault{serve: func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		conn.Close()
	}}
}

// Drip answers with the text, a byte at a time with this pause before each.
func Drip(text string, pause time.Duration) Fault {
	return Fault{serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		for i := range len(text) {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(pause):
			}
			w.Write([]byte(text[i : i+1]))
			http.NewResponseController(w).Flush()
		}
	}}
}
