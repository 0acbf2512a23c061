package noproxy

import (
	"net/netip"
	"strings"
)

// Diff is how two NO_PROXY values differ.
type Diff struct {
	Added     List             `json:"added"`
	Removed   List             `json:"removed"`
	Decisions []DecisionChange `json:"decisions"`
}

// DecisionChange is a decision of one client that differs between two values.
type DecisionChange struct {
	URL    string   `json:"target"`
	Client string   `json:"client"`
	Before Decision `json:"before"`
	After  Decision `json:"after"`
}

// Side is one of the two values of a Diff: the variables, and the entries with
// what is known about them.
type Side struct {
	Environment Environment
	Entries     List
}

// SideOf is a side that is a value alone: the reasons of its entries are told
// from their form.
func SideOf(value string) Side {
	s := Side{Environment: ValueEnvironment(value)}
	for text := range strings.SplitSeq(value, ",") {
		if text = strings.TrimSpace(text); text != "" {
			s.Entries = append(s.Entries, Entry{Text: text, Reason: Describe(text), Source: "the value"})
		}
	}
	return s
}

// Compare tells what is added and taken away from one side to the other, and
// which decisions about the targets change. Where neither side sets a proxy,
// both URLs are taken as set.
func Compare(before, after Side, clients []Client, targets []Target) Diff {
	return Diff{
		Added:     minus(after.Entries, before.Entries),
		Removed:   minus(before.Entries, after.Entries),
		Decisions: Decisions(before.Environment, after.Environment, clients, targets),
	}
}

// minus are the entries that the other list does not have.
func minus(l, other List) List {
	left := List{}
	for _, e := range l {
		if !other.Contains(e.Text) {
			left = append(left, e)
		}
	}
	return left
}

// Decisions are the decisions that differ between two environments, target by
// target. Where neither sets a proxy, both URLs are taken as set.
func Decisions(before, after Environment, clients []Client, targets []Target) []DecisionChange {
	was, is := prepareAll(before.WithProxies(), clients), prepareAll(after.WithProxies(), clients)
	changes := []DecisionChange{}
	seen := map[string]bool{}
	for _, t := range targets {
		if seen[t.URL()] {
			continue
		}
		seen[t.URL()] = true
		for i, c := range clients {
			a, b := was[i].Decide(t).Decision, is[i].Decide(t).Decision
			if a != b {
				changes = append(changes, DecisionChange{URL: t.URL(), Client: c.Name(), Before: a, After: b})
			}
		}
	}
	return changes
}

// Describe says what an entry is for, as far as its text tells.
func Describe(text string) string {
	switch text {
	case "localhost", "127.0.0.1", "::1":
		return "the own host"
	case "169.254.169.254", "fd00:ec2::254":
		return "instance metadata"
	case "169.254.170.2":
		return "container credentials"
	case "169.254.170.23", "fd00:ec2::23":
		return "credentials of EKS Pod Identity"
	}
	if p, err := netip.ParsePrefix(text); err == nil {
		return "the addresses of " + p.Masked().String()
	}
	if _, err := netip.ParseAddr(text); err == nil {
		return "one address"
	}
	if f := examine(text); f.code != "" {
		return f.message + " (" + f.code + ")"
	}
	return describeName(text)
}

func describeName(text string) string {
	name, isZone := cutZone(text)
	switch lower := strings.ToLower(name); {
	case lower == "svc" || lower == "cluster.local":
		return "names of services in the cluster"
	case lower == "ec2.internal" || strings.HasSuffix(lower, ".compute.internal"):
		return "private names that EC2 gives"
	case isClusterEndpoint(lower):
		return "the API server of a cluster"
	case awsDomain(name) != "" && isZone:
		return "hosts of AWS below " + name
	case awsDomain(name) != "":
		return "a host of AWS"
	case isZone:
		return "the hosts below " + name
	}
	return "one host, in many clients also those below it"
}

// isClusterEndpoint knows the API server of an EKS cluster by its name.
func isClusterEndpoint(name string) bool {
	region := RegionOf(name)
	if region == "" {
		return false
	}
	before, after, _ := strings.Cut(name, "."+region+".")
	classic, dualStack := AWSDomains(region)
	return strings.Count(before, ".") > 0 && after == "eks."+classic || strings.Contains(before, "eks-cluster") && after == dualStack
}
