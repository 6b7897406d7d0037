package jssource

import (
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
)

// FuzzRead: whatever the source, reading its types ends soon, and finds no place outside of it.
func FuzzRead(f *testing.F) {
	f.Add("export default (a: {n: number}) => a")
	f.Add("import type {A as B} from './x'; interface C<T> extends D, E { [k: string]: T | undefined; m(): void; readonly 'q'?: number }\nexport default function f(a: C<[x: 1, y?: 2]>) {}")
	f.Add("export default function f({a = /}/, ...b}: A<B<C>>, c?: [x: string]): asserts x is y {")
	f.Add("/** @param {{a: */ export default x => `${`}")
	f.Add("enum E { A = 'a', B }\ntype T = { [K in E]: T } | (new () => T)[] & typeof x.y extends infer U ? 1 : 2; export { f as default, type T }; const f = async <T,>(a: Pick<T, 'a'>) => a")
	f.Fuzz(func(t *testing.T, code string) {
		if len(code) > 5000 {
			return
		}
		done := make(chan bool, 1)
		go func() {
			const dir = "/nowhere"
			w := &world{home: foreign.Folder{Disk: dir, Typed: "."}, modules: map[string]*module{}, types: map[*decl]*named{}}
			w.files = &foreign.Files{Overlay: map[string][]byte{dir + "/tool.ts": []byte(strings.ToValidUTF8(code, "?"))}}
			if m := w.module("tool.ts"); m != nil {
				fn := m.defaultExport(0)
				m.jsDoc(&fn)
				if at := fn.span; !at.IsZero() && (at.Lo < 0 || at.Hi > len(at.File.Text) || at.Lo > at.Hi) {
					t.Errorf("the export is at %d-%d", at.Lo, at.Hi)
				}
			}
			done <- true
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatal("reading does not end")
		}
	})
}
