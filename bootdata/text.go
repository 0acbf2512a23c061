package bootdata

import (
	"bytes"
	"strings"
)

// Text is a MIME document as it stands. Top, the Raw of each part and End are,
// put together, its bytes.
type Text struct {
	Fields Fields
	Top    []byte // the header, and what stands before the first part
	Parts  []TextPart
	End    []byte // the closing boundary, and what stands behind it
	// Boundary is empty where the document is a single part.
	Boundary string
	Faults   []Fault
}

// TextPart is one part as it stands.
type TextPart struct {
	Line     int // of its boundary, from 1
	Raw      []byte
	Fields   Fields
	BodyLine int
	Body     []byte // not decoded; without the line end before the next boundary
}

// leading is what editors put before the first line.
const leading = "\ufeff \t\r\n"

// IsMIME says whether the document has a MIME header, also one that readers
// overlook because of what stands before it.
func IsMIME(body []byte) bool { return isMIME(bytes.TrimLeft(body, leading)) }

// ReadText takes a MIME document apart by its lines, as Python and so
// cloud-init does, and notes what other readers take otherwise.
func ReadText(body []byte) Text {
	s := &scanner{body: body}
	for i := 0; i < len(body); {
		s.at = append(s.at, i)
		n := bytes.IndexByte(body[i:], '\n') + 1
		if n == 0 {
			n = len(body) - i
		}
		i += n
	}
	if before, _, ok := bytes.Cut(body, []byte("\r\n")); ok {
		s.fault(FaultCRLF, bytes.Count(before, []byte("\n")))
	}
	s.head()
	if s.text.Boundary == "" {
		s.single()
	} else {
		s.multipart()
	}
	return s.text
}

// scanner walks over the lines of a document.
type scanner struct {
	body []byte
	at   []int // where each line begins
	next int   // the line that comes
	text Text
}

func (s *scanner) more() bool { return s.next < len(s.at) }

// offset is where a line begins; behind the last one the document ends.
func (s *scanner) offset(line int) int {
	if line >= len(s.at) {
		return len(s.body)
	}
	return s.at[line]
}

// line is a line without its end.
func (s *scanner) line(i int) []byte {
	return bytes.TrimRight(s.body[s.offset(i):s.offset(i+1)], "\r\n")
}

func (s *scanner) fault(kind FaultKind, line int) {
	s.text.Faults = append(s.text.Faults, Fault{kind, line + 1, len(s.text.Parts)})
}

// head reads the header of the document.
func (s *scanner) head() {
	for s.more() && len(bytes.Trim(s.line(s.next), leading)) == 0 {
		s.next++
	}
	if s.more() {
		line := s.line(s.next)
		trimmed := bytes.TrimLeft(line, leading)
		if s.next > 0 || len(trimmed) < len(line) {
			s.fault(FaultLeading, 0)
		}
		if !bytes.HasPrefix(bytes.ToLower(trimmed), []byte("mime-version")) {
			s.fault(FaultOrder, s.next)
		}
	}
	first := s.next
	s.text.Fields = s.fields(FaultTopEmpty)
	mediaType, boundary := s.text.Fields.ContentType()
	if s.text.Boundary = boundary; !strings.HasPrefix(mediaType, "multipart/") {
		s.text.Boundary = ""
	} else if boundary == "" {
		s.fault(FaultNoBoundary, first)
	} else if !s.text.Fields.strict() {
		s.fault(FaultBoundaryForm, first)
	}
}

// fields reads header lines and the empty line behind them, whose absence is
// the fault.
func (s *scanner) fields(missing FaultKind) Fields {
	var out Fields
	for ; s.more(); s.next++ {
		line := s.line(s.next)
		if s.next == 0 || len(out) == 0 {
			line = bytes.TrimLeft(line, "\ufeff") // of an editor
		}
		switch {
		case len(bytes.TrimRight(line, " \t")) == 0:
			if len(line) > 0 { // a continued line, for most readers
				s.fault(missing, s.next)
			}
			s.next++
			return out
		case (line[0] == ' ' || line[0] == '\t') && len(out) > 0:
			out[len(out)-1].add(line)
		case fieldLine.Match(bytes.TrimLeft(line, leading)) && !bytes.HasPrefix(line, []byte("--")):
			out = append(out, newField(line))
		default:
			s.fault(missing, s.next)
			return out
		}
	}
	return out
}

// single takes all that follows the header as the one part.
func (s *scanner) single() {
	i := s.offset(s.next)
	s.text.Top = s.body[:i]
	s.text.Parts = []TextPart{{Line: 1, Raw: s.body[i:], Fields: s.text.Fields, BodyLine: s.next + 1, Body: s.body[i:]}}
	s.text.End = s.body[len(s.body):]
	if mediaType, _ := s.text.Fields.ContentType(); !strings.HasPrefix(mediaType, "multipart/") {
		s.nested(0)
	}
}

// multipart reads the parts between the boundaries.
func (s *scanner) multipart() {
	delimiter, first := "--"+s.text.Boundary, s.next
	for s.more() && !s.isDelimiter(delimiter) && !s.isDelimiter(delimiter+"--") {
		s.next++
	}
	s.text.Top = s.body[:s.offset(s.next)]
	for s.more() && s.isDelimiter(delimiter) {
		s.part(delimiter)
	}
	s.text.End = s.body[s.offset(s.next):]
	switch {
	case len(s.text.Parts) == 0:
		s.fault(FaultNoParts, min(first, len(s.at)-1))
		return
	case !s.more():
		s.fault(FaultNotClosed, len(s.at)-1)
		return
	}
	for s.next++; s.more(); s.next++ {
		if len(bytes.TrimSpace(s.line(s.next))) > 0 {
			s.fault(FaultAfterClosing, s.next)
			return
		}
	}
}

// part reads one part, up to the next boundary.
func (s *scanner) part(delimiter string) {
	p := TextPart{Line: s.next + 1}
	start := s.offset(s.next)
	s.text.Parts = append(s.text.Parts, p) // so that faults have its number
	s.next++
	p.Fields = s.partFields(delimiter)
	if !p.Fields.strict() {
		s.fault(FaultPartType, p.Line)
	}
	p.BodyLine = s.next + 1
	from := s.offset(s.next)
	for s.more() && !s.isDelimiter(delimiter) && !s.isDelimiter(delimiter+"--") {
		s.next++
	}
	to := s.offset(s.next)
	p.Raw, p.Body = s.body[start:to], s.body[from:to]
	if s.more() {
		p.Body = trimLineEnd(p.Body)
	}
	i := len(s.text.Parts) - 1
	s.text.Parts[i] = p
	if !s.nested(i) {
		s.otherBoundary(p, delimiter)
	}
}

// partFields reads the header of a part, which the next boundary may cut off.
func (s *scanner) partFields(delimiter string) Fields {
	if s.more() && (s.isDelimiter(delimiter) || s.isDelimiter(delimiter+"--")) {
		return nil
	}
	return s.fields(FaultPartEmpty)
}

func (s *scanner) isDelimiter(delimiter string) bool {
	rest, ok := bytes.CutPrefix(s.line(s.next), []byte(delimiter))
	return ok && len(bytes.TrimRight(rest, " \t")) == 0
}

// nested notes a part that is itself a MIME document.
func (s *scanner) nested(i int) bool {
	p := s.text.Parts[i]
	mediaType, _ := p.Fields.ContentType()
	body, err := DecodeTransfer(p.Fields.Get("Content-Transfer-Encoding"), p.Body)
	if !strings.HasPrefix(mediaType, "multipart/") && (err != nil || !IsMIME(body)) {
		return false
	}
	s.fault(FaultNested, p.Line-1)
	return true
}

// otherBoundary notes what looks like a boundary and is none. A script may
// write such text.
func (s *scanner) otherBoundary(p TextPart, delimiter string) {
	if bytes.Contains(p.Body, []byte("<<")) {
		return
	}
	for i := p.BodyLine - 1; i+1 < s.next; i++ {
		if line := s.line(i); bytes.HasPrefix(line, []byte("--")) && string(line) != delimiter && partHeader.Match(s.line(i+1)) {
			s.fault(FaultOtherBoundary, i)
			return
		}
	}
}

func trimLineEnd(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
}
