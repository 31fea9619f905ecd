package astgrep
import ("testing";"os";"context";"encoding/json";"fmt";"magicode/internal/vfs";"magicode/internal/tool";"magicode/internal/ignore";"time")
func TestLab(t *testing.T) {
	if os.Getenv("LABDIR")=="" {t.Skip()}
	d := os.Getenv("LABDIR")
	b := time.Now()
	res := New(vfs.OS(), ignore.Sources{}, true).Run(context.Background(), tool.Env{Cwd:d,CanonicalCwd:d}, json.RawMessage(os.Getenv("LABARGS")))
	m,_ := json.Marshal(res.Metadata)
	fmt.Println(time.Since(b)); fmt.Println(res.Success); fmt.Println(res.Content); fmt.Println(string(m))
}
