package addons

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// WriteTable prints a row an add-on, and what is to be said of it below.
func (a Ahead) WriteTable(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tab, "ADD-ON\tNOW\tTHEN\tPROXY\tWHY")
	for _, b := range a.Addons {
		_, _ = fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", line(b.Name), line(orDash(b.Installed)), line(orDash(b.Version)), b.Outlook, line(b.Why))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for _, b := range a.Addons {
		for _, text := range b.lines() {
			if _, err := fmt.Fprintf(w, "\n%s: %s", line(b.Name), line(text)); err != nil {
				return err
			}
		}
	}
	for _, n := range a.Notes {
		if _, err := fmt.Fprintf(w, "\nnote: %s", line(n)); err != nil {
			return err
		}
	}
	if len(a.Addons) == 0 && len(a.Notes) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(w)
	return err
}

// lines are the details of an add-on, one a line.
func (b AheadAddon) lines() []string {
	var all []string
	for _, r := range b.Routes {
		text := fmt.Sprintf("%s: now %s, then %s", r.Component, r.Now, r.Then)
		if r.Why != "" {
			text += " (" + r.Why + ")"
		}
		all = append(all, text)
	}
	for _, r := range b.Refused {
		whose := "of the configuration values there"
		if r.Ours {
			whose = "that eksproxy has put there"
		}
		all = append(all, fmt.Sprintf("refused %s, %s: %s", orWhole(r.Pointer), whose, r.Why))
	}
	for _, c := range b.Claimed {
		all = append(all, "the version takes the name itself: "+c.String())
	}
	for _, r := range b.Rolls {
		all = append(all, fmt.Sprintf("the update rolls %d pods of %s", r.Pods, r.Object))
	}
	return all
}

// WriteMarkdown prints the same for a ticket.
func (a Ahead) WriteMarkdown(w io.Writer) error {
	cell := func(text string) string {
		return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(line(text))
	}
	var b strings.Builder
	if a.Kubernetes != "" {
		fmt.Fprintf(&b, "Kubernetes %s\n\n", cell(a.Kubernetes))
	}
	b.WriteString("| add-on | now | then | proxy | why |\n| --- | --- | --- | --- | --- |\n")
	for _, d := range a.Addons {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(d.Name), cell(orDash(d.Installed)), cell(orDash(d.Version)), d.Outlook, cell(d.Why))
	}
	for _, d := range a.Addons {
		for _, text := range d.lines() {
			fmt.Fprintf(&b, "\n- %s: %s", cell(d.Name), cell(text))
		}
	}
	for _, n := range a.Notes {
		fmt.Fprintf(&b, "\n- %s", cell(n))
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n")+"\n")
	return err
}

// line keeps what AWS and others have written on one line, and commands from a
// terminal.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func orWhole(pointer string) string {
	if pointer == "" {
		return "as a whole"
	}
	return pointer
}
