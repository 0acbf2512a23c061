package verify

import (
	"fmt"
	"slices"
	"strings"
)

// APIVersion and Kind stand in a report that is written as JSON or YAML.
const (
	APIVersion = "eksproxy.dev/v1alpha1"
	Kind       = "VerifyReport"
)

// Report is what a run of checks found, in the order of the checks.
type Report struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Target says what was checked, as in {"root": "/"}.
	Target   map[string]string `json:"target,omitempty"`
	Summary  Summary           `json:"summary"`
	Findings []Finding         `json:"findings"`
}

// Summary counts the findings.
type Summary struct {
	Fail    int `json:"fail"`
	Unknown int `json:"unknown"`
	Warn    int `json:"warn"`
	Pass    int `json:"pass"`
	Skip    int `json:"skip"`
}

// String is the summary for a person: "1 fail, 0 unknown, 0 warn, 12 pass, 3 skip".
func (s Summary) String() string {
	return fmt.Sprintf("%d fail, %d unknown, %d warn, %d pass, %d skip", s.Fail, s.Unknown, s.Warn, s.Pass, s.Skip)
}

// ExitCode is 1 where a check fails, else 3 where one could not decide, else 0.
func (r Report) ExitCode() int {
	switch {
	case r.Summary.Fail > 0:
		return 1
	case r.Summary.Unknown > 0:
		return 3
	}
	return 0
}

// IDs are the checks that have a finding of this status, each once.
func (r Report) IDs(s Status) []string {
	var ids []string
	for _, f := range r.Findings {
		if f.Status == s && !slices.Contains(ids, f.ID) {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// add takes a finding into the report. One without a known status is unknown.
func (r *Report) add(c Check, f Finding) {
	f.ID, f.Check = c.ID, c.Title
	switch f.Status {
	case Pass:
		r.Summary.Pass++
	case Skip:
		r.Summary.Skip++
	case Warn:
		r.Summary.Warn++
	case Fail:
		r.Summary.Fail++
	default:
		if f.Status != Unknown {
			f.Evidence = strings.TrimSpace(fmt.Sprintf("the check gives the status %q; %s", string(f.Status), f.Evidence))
		}
		f.Status = Unknown
		r.Summary.Unknown++
	}
	if f.Remedy == "" && f.Status != Pass && f.Status != Skip {
		f.Remedy = c.Remedy
	}
	r.Findings = append(r.Findings, f)
}
