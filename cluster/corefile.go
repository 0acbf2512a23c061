package cluster

import (
	"strings"

	"github.com/eksproxy/eksproxy/internal/nameform"
)

// zoneOf is the cluster domain in CoreDNS's configuration: the first zone of the
// plugin kubernetes that is no zone of addresses. Without zones of its own the
// plugin has those of its server block. Empty where there is none.
func zoneOf(corefile string) string {
	var block []string // the keys of the server block
	depth := 0
	for line := range strings.Lines(corefile) {
		words := strings.Fields(stripComment(line))
		if depth == 0 && len(words) > 0 {
			block = append(block, words...)
		}
		if depth == 1 && len(words) > 0 && words[0] == "kubernetes" {
			if zone := firstZone(words[1:]); zone != "" {
				return zone
			}
			if zone := firstZone(block); zone != "" {
				return zone
			}
		}
		for _, w := range words {
			switch w {
			case "{":
				depth++
			case "}":
				if depth--; depth <= 0 {
					depth, block = 0, nil
				}
			}
		}
	}
	return ""
}

func stripComment(line string) string {
	line, _, _ = strings.Cut(line, "#")
	return line
}

// firstZone is the first word that is a zone of names: not the root, no reverse
// zone. A server block may write it as dns://ZONE:PORT, with commas between.
func firstZone(words []string) string {
	for _, word := range words {
		if _, rest, ok := strings.Cut(word, "://"); ok {
			word = rest
		}
		word, _, _ = strings.Cut(strings.Trim(word, `",`), ":")
		zone := strings.TrimSuffix(word, ".")
		if strings.HasSuffix(zone, ".arpa") || strings.Contains(zone, "/") || !nameform.IsName(zone) {
			continue
		}
		return zone
	}
	return ""
}
