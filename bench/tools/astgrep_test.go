package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"magicode/internal/tool/astgrep"
	"magicode/internal/vfs"
)

// code is a function of made-up source text for each language; %d makes each
// one different.
var code = map[string]string{
	"go": "func handle%[1]d(ctx context.Context, in *Request) (out []string, err error) {\n\tif in == nil || len(in.Items) > %[1]d {\n\t\treturn nil, fmt.Errorf(\"request %%d: %%w\", %[1]d, errEmpty)\n\t}\n\tfor i, item := range in.Items {\n\t\tswitch v := item.Value.(type) {\n\t\tcase string:\n\t\t\tout = append(out, strings.TrimSpace(v))\n\t\tdefault:\n\t\t\tout = append(out, fmt.Sprint(i, v))\n\t\t}\n\t}\n\treturn out, nil\n}\n\n",
	"py": "def handle_%[1]d(request, *, limit=%[1]d):\n    if request is None or len(request.items) > limit:\n        raise ValueError(f\"request {limit}\")\n    out = []\n    for i, item in enumerate(request.items):\n        if isinstance(item, str):\n            out.append(item.strip())\n        else:\n            out.append({\"index\": i, \"value\": [x for x in item if x]})\n    return out\n\n",
	"js": "export async function handle%[1]d(request, { limit = %[1]d, ...rest } = {}) {\n  if (!request || request.items.length > limit) {\n    throw new Error(`request ${limit}`);\n  }\n  const out = [];\n  for (const [i, item] of request.items.entries()) {\n    out.push(typeof item === 'string' ? item.trim() : { i, value: item?.filter((x) => x) });\n  }\n  return out;\n}\n\n",
	"ts": "export async function handle%[1]d<T extends Item>(request: Request<T> | null, limit: number = %[1]d): Promise<Array<Result>> {\n  if (!request || request.items.length > limit) {\n    throw new Error(`request ${limit}`);\n  }\n  const out: Result[] = [];\n  for (const [i, item] of request.items.entries()) {\n    out.push({ i, value: (item as T)!.list.filter((x): x is string => typeof x === 'string') });\n  }\n  return out;\n}\n\n",
	"rs": "pub fn handle_%[1]d<'a, T: Item>(request: Option<&'a Request<T>>, limit: usize) -> Result<Vec<String>, Error> {\n    let Some(request) = request else { return Err(Error::Empty(%[1]d)) };\n    let mut out = Vec::with_capacity(limit);\n    for (i, item) in request.items.iter().enumerate() {\n        match item.value() {\n            Value::Text(text) if !text.is_empty() => out.push(text.trim().to_string()),\n            _ => out.push(format!(\"{}: {:?}\", i, item)),\n        }\n    }\n    Ok(out)\n}\n\n",
}

// makeCode writes count files of one language, of about size bytes each.
func makeCode(root, ext string, count, size int) error {
	head := map[string]string{"go": "package code\n\n"}[ext]
	for i := range count {
		dir := filepath.Join(root, fmt.Sprintf("part%02d", i/50))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		var b strings.Builder
		b.WriteString(head)
		for n := 0; b.Len() < size; n++ {
			fmt.Fprintf(&b, code[ext], i*1000+n)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%04d.%s", i, ext)), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkAstGrep searches and outlines 500 files of 8 KiB in each language.
// parsed: every file holds the pattern's words and is parsed; absent: none does.
func BenchmarkAstGrep(b *testing.B) {
	const size = 8 << 10
	files := few(500)
	for _, tc := range []struct{ ext, parsed, absent string }{
		{"go", "fmt.Errorf($A, errEmpty)", "errors.Join($$$)"},
		{"py", "isinstance($A, item, enumerate)", "os.path.join($$$)"},
		{"js", "request.items.trim($A, item, limit)", "document.write($$$)"},
		{"ts", "request.items.filter($A, item, limit)", "document.write($$$)"},
		{"rs", "request.items.trim($A, item, limit)", "$A.unwrap()"},
	} {
		for _, job := range []struct{ name, args string }{
			{"parsed", fmt.Sprintf(`{"pattern":%q}`, tc.parsed)},
			{"absent", fmt.Sprintf(`{"pattern":%q}`, tc.absent)},
			{"outline", `{"operation":"outline","name":"^none$"}`},
		} {
			b.Run("language="+tc.ext+"/job="+job.name, func(b *testing.B) {
				env := shared.get(b, "code-"+tc.ext, func(root string) error { return makeCode(root, tc.ext, files, size) })
				t := astgrep.New(vfs.OS(), noSources(b), true)
				mustRun(b, t, env, job.args)
				b.SetBytes(int64(files * size))
				b.ReportAllocs()
				for b.Loop() {
					if m := mustRun(b, t, env, job.args).Metadata; m["scan_complete"] != true || m["files_scanned"] != files || m["files_skipped"] != 0 {
						b.Fatal("incomplete", m)
					}
				}
			})
		}
	}
}
