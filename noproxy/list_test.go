package noproxy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/noproxy"
)

// list reads a value; an entry with a leading + is the user's.
func list(value string) noproxy.List {
	var l noproxy.List
	for text := range strings.SplitSeq(value, ",") {
		e := noproxy.Entry{Text: text, Group: noproxy.Cluster}
		if bare, ok := strings.CutPrefix(text, "+"); ok {
			e = noproxy.Entry{Text: bare, Group: noproxy.User}
		}
		l = append(l, e)
	}
	return l
}

func TestListContains(t *testing.T) {
	l := list("localhost,ID.gr7.example")
	for text, want := range map[string]bool{"id.GR7.example": true, "gr7.example": false, "": false} {
		if got := l.Contains(text); got != want {
			t.Errorf("Contains(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestListFit(t *testing.T) {
	const all = "localhost,.svc,*.svc,+corp.example,+.corp.example,+*.corp.example,+10.0.0.0/8"
	tests := []struct {
		name       string
		limit      int
		kept, left string
	}{
		{"all of it", 76, "localhost,.svc,*.svc,corp.example,.corp.example,*.corp.example,10.0.0.0/8", ""},
		{"one byte short", 72, "localhost,.svc,*.svc,corp.example,.corp.example,10.0.0.0/8", "*.corp.example"},
		{"no star", 55, "localhost,.svc,corp.example,.corp.example,10.0.0.0/8", "*.corp.example,*.svc"},
		{"no dotted twin", 50, "localhost,.svc,corp.example,10.0.0.0/8", "*.corp.example,*.svc,.corp.example"},
		{"no CIDR of the user", 37, "localhost,.svc,corp.example", "*.corp.example,*.svc,.corp.example,10.0.0.0/8"},
		{"nothing of the user", 14, "localhost,.svc", "*.corp.example,*.svc,.corp.example,10.0.0.0/8,corp.example"},
		{"last resort", 9, "localhost", "*.corp.example,*.svc,.corp.example,10.0.0.0/8,corp.example,.svc"},
		{"nothing", 0, "", "*.corp.example,*.svc,.corp.example,10.0.0.0/8,corp.example,.svc,localhost"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := list(all)
			kept, left := l.Fit(tt.limit)
			if diff := cmp.Diff([]string{tt.kept, tt.left}, []string{kept.String(), left.String()}); diff != "" {
				t.Errorf("Fit(%d) kept and left (-want +got):\n%s", tt.limit, diff)
			}
			if diff := cmp.Diff(list(all), l); diff != "" {
				t.Errorf("Fit changed its receiver:\n%s", diff)
			}
		})
	}
}

// Whatever the limit, the value fits it, nothing is lost, and no entry that
// was left out last would have fitted.
func TestListFitEveryLimit(t *testing.T) {
	l := list("localhost,.svc,*.svc,+corp.example,+.corp.example,+*.corp.example,+.lone.example")
	for limit := range len(l.String()) + 1 {
		kept, left := l.Fit(limit)
		if len(kept.String()) > limit {
			t.Errorf("Fit(%d) keeps %d bytes", limit, len(kept.String()))
		}
		if len(kept)+len(left) != len(l) {
			t.Errorf("Fit(%d) keeps %d and leaves %d of %d", limit, len(kept), len(left), len(l))
		}
		if n := len(left); n > 0 && len(append(kept, left[n-1]).String()) <= limit {
			t.Errorf("Fit(%d) leaves out %s, which fits", limit, left[n-1].Text)
		}
	}
}
