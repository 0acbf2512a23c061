package bench

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// figure is one thing that was measured, in several runs.
type figure struct {
	name, unit string
	values     []float64
	// limit is the most that the median may be, or the least. A figure in a
	// unit of its own may have none.
	limit   float64
	atLeast bool
}

// target says what the median is held to; empty where to nothing.
func (f figure) target() string {
	switch {
	case f.unit == "files":
		return "none"
	case f.limit == 0:
		return ""
	case f.atLeast:
		return fmt.Sprintf("at least %g %s", f.limit, f.unit)
	}
	return fmt.Sprintf("at most %g %s", f.limit, f.unit)
}

// met says whether the median meets the target.
func (f figure) met() bool {
	if f.atLeast {
		return median(f.values) >= f.limit
	}
	return f.target() == "" || median(f.values) <= f.limit
}

// print writes the table and returns what misses its target.
func print(w io.Writer, table []figure) (missed []string) {
	tab := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "\tmedian\tmin\tmax\t\ttarget\t\t")
	for _, f := range table {
		verdict := ""
		if f.target() != "" {
			verdict = "ok"
		}
		if !f.met() {
			verdict = "MISSED"
			missed = append(missed, f.name)
		}
		fmt.Fprintf(tab, "%s\t%.2f\t%.2f\t%.2f\t%s\t%s\t%s\t\n", f.name,
			median(f.values), slices.Min(f.values), slices.Max(f.values), f.unit, f.target(), verdict)
	}
	tab.Flush()
	return missed
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

// pair compares runs that were made one after the other.
func pair(a, b []float64, compare func(a, b float64) float64) []float64 {
	values := make([]float64, len(a))
	for i := range a {
		values[i] = compare(a[i], b[i])
	}
	return values
}

func ratio(a, b float64) float64      { return a / b }
func difference(a, b float64) float64 { return a - b }
