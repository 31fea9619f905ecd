package reader

import (
	"cmp"
	"slices"
	"strings"

	"magicode/telemetry"
)

// Name is a hash that a capture holds, and what it stands for on this machine.
type Name struct {
	Kind string  `json:"kind"` // mcp, tool, model, provider, subagent, session
	Ref  string  `json:"ref"`  // as the capture has it; of an MCP server its number
	Name *string `json:"name"` // nil: no name of this home has the hash
}

// Resolve puts the names of this home in the place of the hashes, as far as it
// has them, and returns what it found, sorted.
func (c *Capture) Resolve(r *telemetry.Resolver) []Name {
	t := &translation{resolver: r, servers: map[string]string{}, seen: map[string]Name{}}
	for i := range c.Spans {
		t.learn(c.Spans[i].Attributes)
	}
	for i := range c.Records {
		t.learn(c.Records[i].Attributes)
	}
	for i := range c.Spans {
		c.Spans[i].Name = t.span(c.Spans[i].Name)
		t.translate(c.Spans[i].Attributes)
	}
	for i := range c.Records {
		t.translate(c.Records[i].Attributes)
	}
	names := make([]Name, 0, len(t.seen))
	for _, n := range t.seen {
		names = append(names, n)
	}
	slices.SortFunc(names, func(x, y Name) int { return cmp.Or(strings.Compare(x.Kind, y.Kind), strings.Compare(x.Ref, y.Ref)) })
	return names
}

// translation is one pass over a capture.
type translation struct {
	resolver *telemetry.Resolver
	servers  map[string]string // number -> name
	seen     map[string]Name   // by kind and hash
}

// learn notes the hashes among attributes. A server's number stands beside its
// hash wherever the hash is.
func (t *translation) learn(attributes map[string]any) {
	for key, v := range attributes {
		value, ok := v.(string)
		if !ok {
			continue
		}
		kind, name := t.resolver.Name(key, value)
		if kind == "" {
			continue
		}
		n := Name{Kind: kind, Ref: value}
		if number := text(attributes, serverKey); key == telemetry.KeyMCPHash.String() && number != "" {
			n.Ref = number
			if name != "" {
				t.servers[number] = name
			}
		}
		if name != "" {
			n.Name = &name
		}
		t.seen[kind+" "+value] = n
	}
}

const serverKey = "magi.mcp.server"

// translate changes attributes: a server keeps its number before its name.
func (t *translation) translate(attributes map[string]any) {
	for key, v := range attributes {
		value, ok := v.(string)
		if !ok {
			continue
		}
		switch _, name := t.resolver.Name(key, value); {
		case name != "":
			attributes[key] = name
		case key == serverKey && t.servers[value] != "":
			attributes[key] = value + "=" + t.servers[value]
		case key == "magi.span.name":
			attributes[key] = t.span(value)
		}
	}
}

// span is the name of a span: that of a generation ends with its model.
func (t *translation) span(name string) string {
	chat, model, ok := strings.Cut(name, " ")
	if !ok || chat != telemetry.SpanChat.String() {
		return name
	}
	if _, known := t.resolver.Name(telemetry.KeyModel.String(), model); known != "" {
		return chat + " " + known
	}
	return name
}

// AnyResolved reports whether this home knows any of the names.
func AnyResolved(names []Name) bool {
	return slices.ContainsFunc(names, func(n Name) bool { return n.Name != nil })
}

// shown is a name for a person.
func (n *Name) shown() string {
	if n.Name == nil {
		return "not known here"
	}
	return *n.Name
}
