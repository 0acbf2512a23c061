package noproxy

// RuleID names the rule that a decision rests on.
type RuleID uint8

// The rules. String says them in words.
const (
	RuleNone RuleID = iota
	RuleNotListed
	RuleNoProxySet
	RuleNeverReads
	RuleExact
	RuleZone
	RuleApex
	RuleSuffix
	RulePattern
	RuleStar
	RuleAddress
	RuleRange
	RuleResolved
	RuleLoopback
	RuleLoopbackEntry
	RuleCredentials
	RuleMetadata
	RuleCGI
	RuleBadEntry
	RuleBadProxy
	RuleProxyDropped
)

// String is the rule in words, as they end the sentence "direct, because ...".
func (r RuleID) String() string {
	words := [...]string{ //nolint:gosec // words about credentials are none
		RuleNone:          "no rule",
		RuleNotListed:     "no entry matches the host",
		RuleNoProxySet:    "no variable that this client reads sets a proxy for the target",
		RuleNeverReads:    "this client never reads the proxy variables",
		RuleExact:         "the entry is the host",
		RuleZone:          "the host is below the entry's domain",
		RuleApex:          "the entry's domain without its leading dot or star is the host",
		RuleSuffix:        "the host ends in the entry, be it in the middle of a label",
		RulePattern:       "the entry is a pattern that the host matches",
		RuleStar:          "a star stands for every host",
		RuleAddress:       "the entry is the host's address",
		RuleRange:         "the host's address is in the entry's range",
		RuleResolved:      "the host's name resolves to an address that the entry covers",
		RuleLoopback:      "this client never asks a proxy for a loopback host",
		RuleLoopbackEntry: "an entry for one loopback name covers them all",
		RuleCredentials:   "this SDK never asks a proxy for container credentials",
		RuleMetadata:      "this SDK never asks a proxy for instance metadata",
		RuleCGI:           "REQUEST_METHOD is set, so the variable may come from a request header",
		RuleBadEntry:      "this client cannot read the entry, and fails for every host",
		RuleBadProxy:      "this client cannot use the proxy's URL",
		RuleProxyDropped:  "this client drops a proxy with such a URL without a word",
	}
	if int(r) >= len(words) {
		return words[RuleNone]
	}
	return words[r]
}
