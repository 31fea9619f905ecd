package config

import "strings"

func capabilityKeys() []rule[Settings] {
	return []rule[Settings]{
		keyed("capabilities.mcp_approvals", fixed(object{"type": "object"}),
			func(s *Settings) *map[string]map[string]MCPApproval { return &s.Capabilities.MCPApprovals }, mcpApprovals).only(),
		enum("capabilities.approvals.level", ProtectionRelaxed, func(s *Settings) *Protection { return &s.Capabilities.Approvals.Level }, protections[:]...),
		enum("capabilities.project_settings", ProjectFull, func(s *Settings) *ProjectMode { return &s.Capabilities.ProjectSettings }, ProjectFull, ProjectSafe).only(),
		boolean("capabilities.lsp.enabled", false, func(s *Settings) *bool { return &s.Capabilities.LSP.Enabled }),
		boolean("capabilities.lsp.inject_diagnostics_on_edit", true, func(s *Settings) *bool { return &s.Capabilities.LSP.InjectDiagnostics }),
		integer("capabilities.lsp.diagnostics_wait_ms", 2000, 1, 30000, func(s *Settings) *int { return &s.Capabilities.LSP.DiagnosticsWaitMS }),
		integer("capabilities.lsp.idle_shutdown_minutes", 10, 1, 240, func(s *Settings) *int { return &s.Capabilities.LSP.IdleShutdownMinutes }),
		keyed("capabilities.lsp.servers", schemaOf(lspShape), func(s *Settings) *map[string]LSPServer { return &s.Capabilities.LSP.Servers }, lspServer),
	}
}

func lspShape() *shape[LSPServer] {
	return newShape([]rule[LSPServer]{
		text("command", notBlank, func(l *LSPServer) *string { return &l.Command }).must(),
		list("args", asIs, func(l *LSPServer) *[]string { return &l.Args }),
		boolean("enabled", true, func(l *LSPServer) *bool { return &l.Enabled }),
	}, nil, nil)
}

func lspServer(name string, v any) (LSPServer, *problem) {
	var l LSPServer
	if strings.TrimSpace(name) == "" || strings.Contains(name, "__") {
		return l, wrong("is no server name")
	}
	p := lspShape().decode(&l, v)
	return l, p
}
