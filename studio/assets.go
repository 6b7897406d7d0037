package studio

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
)

//go:generate go run ./bundle

// dist is what ./bundle makes of ./web.
//
//go:embed dist
var dist embed.FS

// version is another text when a file of dist is another.
var version = func() string {
	sum := sha256.New()
	for _, name := range []string{"studio.css", "studio.js"} {
		data, _ := dist.ReadFile("dist/" + name) // embedded
		_, _ = sum.Write(data)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}()

// index is the page, which is the same at all addresses and holds no data.
var index = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>flowgen studio</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/studio.css?` + version + `">
<script type="module" src="/assets/studio.js?` + version + `"></script>
</head>
<body>
<div id="app"><noscript>flowgen studio needs JavaScript.</noscript></div>
</body>
</html>
`

// serveAsset answers with a file of the page, or with the page.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	name, isFile := strings.CutPrefix(r.URL.Path, "/assets/")
	if !isFile {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(index))
		return
	}
	data, err := dist.ReadFile("dist/" + path.Base(name))
	if err != nil || path.Base(name) != name {
		(&problem{Status: http.StatusNotFound, Title: "not there"}).write(w)
		return
	}
	kind := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}[path.Ext(name)]
	if kind == "" {
		kind = "text/plain; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	if r.URL.RawQuery == version { // so the browser keeps what it has made of the script, too
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	_, _ = w.Write(data)
}
