package bench

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// bound is the side on which a target lies; empty where there is none.
type bound string

const (
	atMost  bound = "at most"
	atLeast bound = "at least"
)

// figure is one thing that was measured, in several runs. Its median is held
// to the limit.
type figure struct {
	name, unit string
	values     []float64
	bound      bound
	limit      float64
}

// target says what the median is held to.
func (f figure) target() string {
	if f.bound == "" {
		return ""
	}
	return fmt.Sprintf("%s %g %s", f.bound, f.limit, f.unit)
}

// verdict says whether the median meets the target; empty where there is none.
func (f figure) verdict() string {
	m := median(f.values)
	switch {
	case f.bound == "":
		return ""
	case f.bound == atMost && m > f.limit, f.bound == atLeast && m < f.limit:
		return missed
	}
	return "ok"
}

// missed is the verdict on a target that is not met.
const missed = "MISSED"

// show prints the table.
func show(w io.Writer, table []figure) {
	tab := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "\tmedian\tmin\tmax\t\ttarget\t\t")
	for _, f := range table {
		fmt.Fprintf(tab, "%s\t%.2f\t%.2f\t%.2f\t%s\t%s\t%s\t\n", f.name,
			median(f.values), slices.Min(f.values), slices.Max(f.values), f.unit, f.target(), f.verdict())
	}
	tab.Flush()
}

// median is the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// each takes one number from each run.
func each(runs []cost, number func(cost) float64) []float64 {
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = number(r)
	}
	return values
}

// pairs compares runs that were made one after the other.
func pairs(a, b []float64, compare func(a, b float64) float64) []float64 {
	values := make([]float64, len(a))
	for i := range a {
		values[i] = compare(a[i], b[i])
	}
	return values
}

func ratio(a, b float64) float64      { return a / b }
func difference(a, b float64) float64 { return a - b }
