package addons

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/eksproxy/eksproxy/plan"
)

// beside is how many changes are made at once where nothing is waited for.
const beside = 8

// sayEvery is how far lines of progress are apart.
const sayEvery = 2 * time.Second

// together lets a change be made beside others of its stage.
func (p *Prepared) together(id string, stage int) {
	if p.light == nil {
		p.light = map[string]int{}
	}
	p.light[id] = stage
}

// Run carries the plan out, and stops at the first error. Changes that nobody
// waits for are made side by side, where they stand next to each other: they
// start in the order of the plan, and a change of another sort starts when all of
// them have ended.
func (p *Prepared) Run(ctx context.Context) (plan.Outcome, error) {
	if len(p.light) == 0 {
		return p.Plan.Apply(ctx, p)
	}
	r := running{Prepared: p, pending: p.Pending(), failed: -1}
	r.done = make([]bool, len(r.pending))
	for r.next < len(r.pending) && r.failed < 0 {
		r.batch(ctx)
	}
	return r.outcome()
}

// running is how far a plan is carried out.
type running struct {
	*Prepared
	pending []plan.Change

	mu   sync.Mutex
	done []bool
	// next is the first change that is not begun, made how many have ended well.
	next, made int
	// failed is the first change, in the plan's order, that ended in an error;
	// negative without one.
	failed int
	err    error
	said   time.Time
}

// batch makes the changes from next on that go together.
func (r *running) batch(ctx context.Context) {
	end := r.next + 1
	if stage := r.light[r.pending[r.next].ID]; stage > 0 {
		for end < len(r.pending) && r.light[r.pending[end].ID] == stage {
			end++
		}
	}
	var workers sync.WaitGroup
	for range min(beside, end-r.next) {
		workers.Go(func() {
			for i, ok := r.begin(end); ok; i, ok = r.begin(end) {
				r.ended(i, r.one(ctx, r.pending[i]))
			}
		})
	}
	workers.Wait()
}

// begin is the next change of a batch; none after an error.
func (r *running) begin(end int) (i int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed >= 0 || r.next >= end {
		return 0, false
	}
	r.next++
	return r.next - 1, true
}

func (r *running) one(ctx context.Context, c plan.Change) error {
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted before %s: %w", c.Target, context.Cause(ctx))
	}
	if err := r.Apply(ctx, c); err != nil {
		return fmt.Errorf("applying %s: %w", c.Target, err)
	}
	return nil
}

// ended notes what became of a change.
func (r *running) ended(i int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		if r.failed < 0 || i < r.failed {
			r.failed, r.err = i, err
		}
		return
	}
	r.done[i] = true
	r.made++
	switch now := time.Now(); {
	case r.said.IsZero():
		r.said = now
	case now.Sub(r.said) >= sayEvery && r.say != nil:
		r.said = now
		r.say("%d of %d changes made", r.made, len(r.pending))
	}
}

// outcome says what was done. Of what stands behind the one that failed, some may
// have been made: they were under way.
func (r *running) outcome() (plan.Outcome, error) {
	if r.failed < 0 {
		return plan.Outcome{Done: r.pending}, nil
	}
	o := plan.Outcome{Left: []plan.Change{r.pending[r.failed]}}
	for i, c := range r.pending {
		switch {
		case r.done[i]:
			o.Done = append(o.Done, c)
		case i != r.failed:
			o.Left = append(o.Left, c)
		}
	}
	return plan.Outcome{Done: slices.Clip(o.Done), Left: o.Left}, fmt.Errorf("%d of %d changes made: %w", len(o.Done), len(r.pending), r.err)
}
