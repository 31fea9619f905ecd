package web

import "golang.org/x/net/html/atom"

// attributes are those that count here.
type attributes struct {
	href, alt, role string
	hidden          bool
}

func (a *attributes) note(key, value string) {
	switch key {
	case "href":
		a.href = value
	case "alt":
		a.alt = value
	case "role":
		a.role = value
	case "hidden":
		a.hidden = true
	case "aria-hidden":
		a.hidden = a.hidden || value == "true"
	}
}

func void(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// leftOut reports what no reader sees, and in the main part what is not of it.
func (r *renderer) leftOut(a atom.Atom, attr *attributes) bool {
	switch a {
	case atom.Script, atom.Style, atom.Template, atom.Svg, atom.Math, atom.Iframe, atom.Object, atom.Select, atom.Textarea, atom.Noscript, atom.Canvas, atom.Audio, atom.Video:
		return true
	case atom.Nav, atom.Aside, atom.Footer, atom.Form, atom.Dialog, atom.Button:
		return r.mainOnly
	}
	return attr.hidden
}

// blockLines is how many line ends part an element from what is around it.
func blockLines(a atom.Atom) int {
	switch a {
	case atom.P, atom.Table, atom.Dl, atom.Figure, atom.Article, atom.Section, atom.Main, atom.Header, atom.Footer, atom.Nav, atom.Aside:
		return 2
	case atom.Div, atom.Li, atom.Dt, atom.Dd, atom.Figcaption, atom.Address, atom.Form, atom.Fieldset, atom.Details, atom.Summary, atom.Option, atom.Body, atom.Title:
		return 1
	}
	return 0
}

func heading(a atom.Atom) int {
	return map[atom.Atom]int{atom.H1: 1, atom.H2: 2, atom.H3: 3, atom.H4: 4, atom.H5: 5, atom.H6: 6}[a]
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
