package noproxy

import "strings"

// splitter takes a value apart as one client does. What it keeps around an
// element, such as white space, is part of it for that client.
type splitter func(value string) []string

// splitCommas is for clients that keep white space.
func splitCommas(value string) []string { return strings.Split(value, ",") }

// splitTrimmed is for clients that trim each element.
func splitTrimmed(value string) []string {
	elements := strings.Split(value, ",")
	for i, e := range elements {
		elements[i] = strings.TrimSpace(e)
	}
	return elements
}

// splitTrimmedFilled is splitTrimmed for clients that skip empty elements.
func splitTrimmedFilled(value string) []string { return filled(splitTrimmed(value)) }

// splitCommasFilled is splitCommas for clients that skip empty elements.
func splitCommasFilled(value string) []string { return filled(splitCommas(value)) }

// splitBlanks is for clients to which white space is as good as a comma.
func splitBlanks(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || isBlank(r) })
}

func isBlank(r rune) bool { return strings.ContainsRune(" \t\n\v\f\r", r) }

// splitPipes is Java's.
func splitPipes(value string) []string { return filled(strings.Split(value, "|")) }

// splitWget drops the white space that follows a comma, and no other.
func splitWget(value string) []string {
	elements := strings.Split(value, ",")
	for i := 1; i < len(elements); i++ {
		elements[i] = strings.TrimLeft(elements[i], " \t\n\v\f\r")
	}
	return elements
}

// splitNoSpaces drops every space, also between two elements that lack a
// comma; other white space stays.
func splitNoSpaces(value string) []string {
	return splitCommasFilled(strings.ReplaceAll(value, " ", ""))
}

// splitCurlOld is curl's up to 7.85: a comma or a space, no tab.
func splitCurlOld(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
}

// splitCurlBlank is curl's from 7.86 to 8.8.
func splitCurlBlank(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
}

// splitCurlComma is curl's from 8.9 on: a blank that no comma follows ends the
// list.
func splitCurlComma(value string) []string {
	var elements []string
	for e := range strings.SplitSeq(value, ",") {
		e = strings.Trim(e, " \t")
		first, _, more := strings.Cut(strings.ReplaceAll(e, "\t", " "), " ")
		if first != "" {
			elements = append(elements, first)
		}
		if more {
			break
		}
	}
	return elements
}

func filled(elements []string) []string {
	kept := elements[:0]
	for _, e := range elements {
		if e != "" {
			kept = append(kept, e)
		}
	}
	return kept
}
