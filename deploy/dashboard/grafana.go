package main

// object is a part of Grafana's JSON; the keys are those of its dashboard model,
// schema version 39.
type object = map[string]any

// target is one query of a panel. legend may hold {{label}}.
type target struct{ expr, legend string }

// panel is what a panel shows.
type panel struct {
	title, about, unit string
	kind               string // "timeseries" or "stat"
	width              int    // of 24 columns
	most               float64
	targets            []target
}

const (
	fullWidth   = 24
	panelHeight = 7
)

var source = object{"type": "prometheus", "uid": "${source}"}

// selector is in every query: one job, or all.
const selector = `{job=~"$job"}`

// json puts a panel at a place.
func (p panel) json(id, x, y int) object {
	var targets []any
	for i, t := range p.targets {
		targets = append(targets, object{"refId": string(rune('A' + i)), "datasource": source, "expr": t.expr, "legendFormat": t.legend, "editorMode": "code", "range": true})
	}
	defaults := object{"unit": p.unit, "min": 0}
	if p.most > 0 {
		defaults["max"] = p.most
		defaults["thresholds"] = object{"mode": "absolute", "steps": []any{object{"color": "green", "value": nil}, object{"color": "red", "value": 0.75 * p.most}}}
	}
	options := object{"legend": object{"displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": []any{}}, "tooltip": object{"mode": "multi", "sort": "desc"}}
	if p.kind == "stat" {
		options = object{"reduceOptions": object{"calcs": []any{"lastNotNull"}, "fields": "", "values": false}, "colorMode": "value", "graphMode": "area",
			"justifyMode": "auto", "textMode": "auto", "wideLayout": true, "showPercentChange": false, "percentChangeColorMode": "standard", "orientation": "auto"}
	}
	return object{"id": id, "type": p.kind, "title": p.title, "description": p.about, "datasource": source,
		"gridPos":     object{"x": x, "y": y, "w": p.width, "h": panelHeight},
		"fieldConfig": object{"defaults": defaults, "overrides": []any{}}, "options": options, "targets": targets}
}

// rowOf is a headline; collapsed, it holds its panels.
func rowOf(id, y int, title string, collapsed bool, panels []any) object {
	return object{"id": id, "type": "row", "title": title, "collapsed": collapsed, "panels": panels, "gridPos": object{"x": 0, "y": y, "w": fullWidth, "h": 1}}
}

// arrange lays the groups out, the first open, the others collapsed.
func arrange(groups []group) []any {
	var out []any
	id, y := 0, 0
	next := func() int { id++; return id }
	for i, g := range groups {
		row, x := next(), 0
		inside := y + 1
		panels := []any{}
		for _, p := range g.panels {
			if x+p.width > fullWidth {
				x, inside = 0, inside+panelHeight
			}
			panels = append(panels, p.json(next(), x, inside))
			x += p.width
		}
		if i == 0 {
			out = append(append(out, rowOf(row, y, g.title, false, []any{})), panels...)
			y = inside + panelHeight
			continue
		}
		out = append(out, rowOf(row, y, g.title, true, panels))
		y++
	}
	return out
}

func dashboard() object {
	return object{
		"title": "magi-code", "uid": "magi-code", "schemaVersion": 39, "version": 1, "editable": true, "tags": []any{"magi-code"},
		"description": "Children of a host: queues, deadlines, approvals, cleanup, tokens.",
		"time":        object{"from": "now-6h", "to": "now"}, "refresh": "30s", "timezone": "browser",
		"annotations": object{"list": []any{}}, "links": []any{},
		"templating": object{"list": []any{
			object{"name": "source", "label": "Source", "type": "datasource", "query": "prometheus", "hide": 0, "refresh": 1, "options": []any{}, "current": object{"text": "default", "value": "default"}, "multi": false, "includeAll": false},
			object{"name": "job", "label": "Job", "type": "query", "datasource": source, "query": object{"query": "label_values(magi_up, job)", "refId": "job"}, "definition": "label_values(magi_up, job)",
				"hide": 0, "refresh": 2, "sort": 1, "multi": true, "includeAll": true, "allValue": ".*", "options": []any{}, "current": object{"text": "All", "value": "$__all"}},
		}},
		"panels": arrange(groups()),
	}
}
