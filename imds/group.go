package imds

import (
	"context"
	"errors"
	"sync"
)

// group runs functions side by side; the first error stops the others. (The
// errgroup of golang.org/x/sync would be a dependency for these lines.)
type group struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	err    error
}

// newGroup returns the group and the context that its functions shall use.
func newGroup(ctx context.Context) (*group, context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	return &group{cancel: cancel}, ctx
}

// run starts f.
func (g *group) run(f func() error) {
	g.wg.Go(func() {
		err := f()
		if err == nil {
			return
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		// When the time is up, all end at once: one that has met more trouble
		// than that is the one to show.
		if g.err == nil || outOfTime(g.err) && !outOfTime(err) {
			g.err = err
		}
		g.cancel()
	})
}

// wait returns the error when all functions have ended.
func (g *group) wait() error {
	g.wg.Wait()
	g.cancel()
	return g.err
}

func outOfTime(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
