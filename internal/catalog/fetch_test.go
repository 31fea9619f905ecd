package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/catalog"
	"magicode/internal/provider"
	"magicode/internal/vfs"
	"magicode/internal/vfs/faultfs"
	"magicode/internal/vfs/memfs"
)

// web answers from a table of addresses; a body "hang" never ends.
type web map[string]page

type page struct {
	status int
	body   string
}

func (w web) RoundTrip(req *http.Request) (*http.Response, error) {
	p, ok := w[req.URL.String()]
	if !ok {
		return nil, errors.New("no route to host")
	}
	if p.body == "hang" {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	if auth := req.Header.Get("Authorization"); strings.Contains(req.URL.Host, "models.dev") && auth != "" {
		return nil, fmt.Errorf("a credential for the facts")
	}
	return &http.Response{StatusCode: p.status, Body: io.NopCloser(strings.NewReader(p.body)), Header: http.Header{}}, nil
}

const facts = `{"local":{"models":{"m1":{"name":"Model One","description":"d","reasoning":true,"reasoning_options":[{"type":"effort","values":["none","low","xhigh","odd"]}],
"limit":{"context":64000,"output":8192},"cost":{"input":1.25,"output":10},"modalities":{"input":["text"]}}}},
"anthropic":{"models":{"claude-x":{"reasoning":true,"limit":{"context":200000,"input":1},"modalities":["text","image"]},"claude-y":{"reasoning":{"efforts":["high","max"]}}}},
"openai":{"models":{"gpt-x":{"reasoning":true,"reasoning_options":[{"type":"effort","values":["low"]}],"limit":{"output":5}}}}}`

func fetcher(w web) (*catalog.Fetcher, vfs.FS) {
	fs := memfs.New()
	_ = fs.MkdirAll("/home", 0o700)
	return &catalog.Fetcher{HTTP: w, FS: fs, Root: "/home", Facts: catalog.FactsURL,
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("x", 3600)) }}, fs
}

// TestRefresh: what each kind of list becomes, and that a reader accepts it.
func TestRefresh(t *testing.T) {
	yes, no := true, false
	local := catalog.Provider{ID: "local", Custom: true, Extra: []string{" extra ", "m1"}}
	for _, c := range []struct {
		name    string
		source  catalog.Source
		list    string
		want    []catalog.Entry
		mark    string
		noFacts bool
	}{
		{"custom", catalog.Source{Provider: local, URL: "http://h/v1/models"}, `{"object":"list","data":[{"id":"m1"},{"id":"m2"}]}`, []catalog.Entry{
			{Provider: "local", Model: "m1", ID: "local/m1", DisplayName: "Model One", Description: "d", InputCost: "1.25", OutputCost: "10", ContextWindow: 64000, MaxOutputTokens: 8192,
				ReasoningEfforts: []provider.Level{"default", "low", "x_high"}, SupportsReasoning: &yes},
			{Provider: "local", Model: "m2", ID: "local/m2"}, {Provider: "local", Model: "extra", ID: "local/extra"}},
			"\"cache_fingerprint\": {\n    \"enrichment_version\": 3,\n    \"models_dev_provider\": \"local\",\n    \"extra_models\": [\n      \"extra\",\n      \"m1\"\n    ]\n  }", false},
		{"custom without facts", catalog.Source{Provider: catalog.Provider{ID: "local", Custom: true}, URL: "http://h/v1/models"}, `{"data":[{"id":"m1"}]}`,
			[]catalog.Entry{{Provider: "local", Model: "m1", ID: "local/m1"}}, `"models_dev_provider": "local"`, true},
		{"anthropic", catalog.Source{Provider: catalog.Provider{ID: "anthropic"}, URL: "http://h/v1/models?limit=1000"}, `{"data":[{"id":"claude-x","display_name":"X","max_input_tokens":1000000,"max_tokens":64000}]}`,
			[]catalog.Entry{{Provider: "anthropic", Model: "claude-x", ID: "anthropic/claude-x", DisplayName: "X", ContextWindow: 1000000, MaxOutputTokens: 64000, SupportsReasoning: &yes, Modalities: []string{"text", "image"}}},
			"\"enrichment_version\": 4\n", false},
		{"codex", catalog.Source{Provider: catalog.Provider{ID: "openai-codex"}, URL: "http://h/models"}, `{"models":[
{"slug":"gpt-x","display_name":"X","max_context_window":400000,"supported_reasoning_levels":[{"effort":"medium"},{"effort":"xhigh"}],"service_tiers":[{"id":"priority","name":"Fast"}]},
{"slug":"gpt-plain","context_window":1,"max_context_window":2,"supported_reasoning_levels":[]},{"slug":"a","supported_in_api":false},{"slug":"b","visibility":"hide"}]}`, []catalog.Entry{
			{Provider: "openai-codex", Model: "gpt-x", ID: "openai-codex/gpt-x", DisplayName: "X", ContextWindow: 400000, MaxContextWindow: 400000, MaxOutputTokens: 5,
				ReasoningEfforts: []provider.Level{"medium", "x_high"}, SupportsReasoning: &yes, Tiers: []catalog.Tier{{ID: "priority", Name: "Fast"}}},
			{Provider: "openai-codex", Model: "gpt-plain", ID: "openai-codex/gpt-plain", ContextWindow: 1, MaxContextWindow: 2, SupportsReasoning: &no}},
			`"codex_client_version": "0.162.0"`, false},
		{"claude subscription", catalog.Source{Provider: catalog.Provider{ID: "claude-subscription"}}, "", []catalog.Entry{
			{Provider: "claude-subscription", Model: "claude-x", ID: "claude-subscription/claude-x", ContextWindow: 200000, SupportsReasoning: &yes, Modalities: []string{"text", "image"}},
			{Provider: "claude-subscription", Model: "claude-y", ID: "claude-subscription/claude-y", ReasoningEfforts: []provider.Level{"high", "max"}}}, `"enrichment_version": 4`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, fs := fetcher(web{c.source.URL: {200, c.list}, catalog.FactsURL: {200, facts}})
			if c.noFacts {
				f.Facts = ""
			}
			if _, err := f.Refresh(t.Context(), c.source); err != nil {
				t.Fatal(err)
			}
			got := catalog.NewReader(fs, "/home").Read(c.source.Provider)
			if got == nil || got.FetchedAt != "2026-01-02T02:04:05Z" {
				t.Fatalf("a reader makes nothing of it: %+v", got)
			}
			if diff := cmp.Diff(c.want, got.Entries); diff != "" {
				t.Error(diff)
			}
			raw, err := vfs.ReadFile(fs, "/home/cache/model-catalog/"+c.source.Provider.ID+".json", 1<<20)
			if err != nil || !strings.Contains(string(raw), c.mark) || bytes.Contains(raw, []byte("null")) {
				t.Errorf("%v\n%s", err, raw)
			}
		})
	}
}

// TestRefreshFails: every failure has its reason and leaves the file as it was.
func TestRefreshFails(t *testing.T) {
	const url = "http://h/v1/models"
	good := page{200, `{"data":[{"id":"m1"}]}`}
	many := `{"data":[` + strings.TrimSuffix(strings.Repeat(`{"id":"x"},`, 2049), ",") + `]}`
	long := make([]string, 0, 1500)
	for i := range 1500 {
		long = append(long, fmt.Sprintf(`{"id":"%d-%s"}`, i, strings.Repeat("x", 900)))
	}
	for _, c := range []struct {
		name        string
		list, facts page
		want        error
	}{
		{"401", page{401, "secret"}, page{200, facts}, catalog.ErrRejected},
		{"403", page{403, ""}, page{200, facts}, catalog.ErrRejected},
		{"429", page{429, ""}, page{200, facts}, catalog.ErrRateLimited},
		{"facts 429", good, page{429, ""}, catalog.ErrRateLimited},
		{"500", page{500, ""}, page{200, facts}, catalog.ErrUnavailable},
		{"redirect", page{302, ""}, page{200, facts}, catalog.ErrUnavailable},
		{"facts 403", good, page{403, ""}, catalog.ErrUnavailable},
		{"list hangs", page{200, "hang"}, page{200, facts}, catalog.ErrTimeout},
		{"facts hang", good, page{200, "hang"}, catalog.ErrTimeout},
		{"no JSON", page{200, "<html>"}, page{200, facts}, catalog.ErrInvalid},
		{"no data", page{200, `{"models":[]}`}, page{200, facts}, catalog.ErrInvalid},
		{"no name", page{200, `{"data":[{"object":"model"}]}`}, page{200, facts}, catalog.ErrInvalid},
		{"twice", page{200, `{"data":[{"id":"m"},{"id":"m"}]}`}, page{200, facts}, catalog.ErrInvalid},
		{"empty", page{200, `{"data":[]}`}, page{200, facts}, catalog.ErrEmpty},
		{"large body", page{200, strings.Repeat(" ", 2<<20+1)}, page{200, facts}, catalog.ErrLimit},
		{"many", page{200, many}, page{200, facts}, catalog.ErrLimit},
		{"long", page{200, `{"data":[` + strings.Join(long, ",") + `]}`}, page{200, facts}, catalog.ErrLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, fs := fetcher(web{url: c.list, catalog.FactsURL: c.facts})
				const file = "/home/cache/model-catalog/local.json"
				if err := vfs.Replace(fs, file, []byte("as it was"), 0); err != nil {
					t.Fatal(err)
				}
				_, err := f.Refresh(t.Context(), catalog.Source{Provider: catalog.Provider{ID: "local", Custom: true}, URL: url})
				if !errors.Is(err, c.want) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%v", err)
				}
				if raw, _ := vfs.ReadFile(fs, file, 1<<20); string(raw) != "as it was" {
					t.Errorf("%s", raw)
				}
			})
		})
	}
	t.Run("without facts", func(t *testing.T) {
		f, _ := fetcher(web{url: good, catalog.FactsURL: {503, ""}})
		var told error
		f.FactsFailed = func(err error) { told = err }
		c, err := f.Refresh(t.Context(), catalog.Source{Provider: catalog.Provider{ID: "local", Custom: true}, URL: url})
		if err != nil || len(c.Entries) == 0 || !errors.Is(told, catalog.ErrUnavailable) {
			t.Errorf("%+v, %v, told %v", c, err, told)
		}
		told = nil
		if _, err := f.Refresh(t.Context(), catalog.Source{Provider: catalog.Provider{ID: "claude-subscription"}}); !errors.Is(err, catalog.ErrUnavailable) || told != nil {
			t.Errorf("nothing to list, but %v, told %v", err, told)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		f, _ := fetcher(web{url: {200, "hang"}})
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		cancel(cause)
		if _, err := f.Refresh(ctx, catalog.Source{Provider: catalog.Provider{ID: "local", Custom: true}, URL: url}); !errors.Is(err, cause) {
			t.Error(err)
		}
	})
}

// TestRefreshFaults fails every operation in turn: the old file or the new one
// is there, never anything else.
func TestRefreshFaults(t *testing.T) {
	const url, file = "http://h/v1/models", "/home/cache/model-catalog/local.json"
	source := catalog.Source{Provider: catalog.Provider{ID: "local", Custom: true}, URL: url}
	for n := 0; ; n++ {
		f, fs := fetcher(web{url: {200, `{"data":[{"id":"m1"}]}`}, catalog.FactsURL: {200, facts}})
		if err := vfs.Replace(fs, file, []byte("as it was"), 0); err != nil {
			t.Fatal(err)
		}
		faulty := faultfs.New(fs)
		faulty.Inject(faultfs.Fault{N: n, Effect: faultfs.Fail})
		f.FS = faulty
		_, err := f.Refresh(t.Context(), source)
		if _, hit := faulty.Hit(); !hit {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		raw, _ := vfs.ReadFile(fs, file, 1<<20)
		switch {
		case err == nil && catalog.NewReader(fs, "/home").Read(source.Provider) != nil:
		case errors.Is(err, catalog.ErrWrite) && string(raw) == "as it was":
		default:
			t.Errorf("fault %d: %v, %q", n, err, raw)
		}
	}
}
