//go:build unix

package deploy

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v4"
)

func TestDeploy(t *testing.T) {
	g := open(t)
	root := g.image(t)
	t.Run("image", func(t *testing.T) { rooted(t, root) })
	t.Run("layout", g.testLayout)
	t.Run("kubernetes", g.testKubernetes)
	t.Run("systemd", g.testSystemd)
	t.Run("cron", g.testCron)
	t.Run("webhook", g.testWebhook)
}

var instruction = regexp.MustCompile(`(?m)^([A-Z]+) (.*)$`)

// image does what the Dockerfile says and returns the root of the last stage: without a daemon, and with the flowgen of this
// repository.
func (g *guide) image(t *testing.T) (root string) {
	t.Helper()
	var user, entry string
	for _, m := range instruction.FindAllStringSubmatch(g.file(t, "Dockerfile"), -1) {
		fields := strings.Fields(m[2])
		switch {
		case m[1] == "FROM" && fields[0] == "scratch":
			root = t.TempDir()
		case m[1] == "FROM", m[1] == "WORKDIR", m[0] == "COPY . .":
		case m[1] == "RUN":
			g.run(t, "sh", "-ec", strings.NewReplacer("go tool flowgen", "flowgen", " /", " '"+g.build+"'/").Replace(m[2]))
		case m[1] == "COPY" && root != "" && fields[0] == "--from=build":
			from, to := fields[len(fields)-2], fields[len(fields)-1]
			if strings.HasSuffix(to, "/") {
				to += path.Base(from)
			}
			source := filepath.Join(g.build, from)
			if _, err := os.Stat(source); err != nil {
				if source = from; !strings.HasPrefix(from, "/etc/ssl/") {
					t.Fatal(err)
				}
			}
			err := errors.Join(os.MkdirAll(filepath.Dir(root+to), 0o755), exec.Command("cp", "-R", source, root+to).Run())
			if err == nil && slices.Contains(fields, "--chown=65534:65534") && os.Geteuid() == 0 {
				err = os.Chown(root+to, 65534, 65534)
			}
			if err != nil && !strings.HasPrefix(from, "/etc/ssl/") { // this machine may have none
				t.Fatal(err)
			}
		case m[1] == "USER":
			user = m[2]
		case m[1] == "ENTRYPOINT":
			entry = m[2]
		default:
			t.Fatalf("%s: unknown here", m[0])
		}
	}
	if user != "65534:65534" || entry != `["/greeting"]` {
		t.Errorf("the image runs %s as %s", entry, user)
	}
	g.exe = filepath.Join(g.build, "greeting")
	return root
}

// rooted runs the program in an empty root, as nobody, where the test is allowed to.
func rooted(t *testing.T, root string) {
	t.Helper()
	if os.Geteuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("only root may change the root")
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command("/greeting", args...)
		cmd.Dir, cmd.Env = "/", []string{"FLOWGEN_RUNS=/runs"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		return cmd
	}
	if out := greets(t, run("--input", "name=Ada")); !strings.Contains(out, "Hello, Ada!") {
		t.Errorf("%s", out)
	}
	if n := recorded(t, filepath.Join(root, "runs")); n != 1 {
		t.Errorf("%d runs are recorded", n)
	}
	if out := greets(t, run("plan")); !strings.Contains(out, "text") {
		t.Errorf("%s", out)
	}
}

// testLayout: a public tool makes the layout and reads it, checking the digests.
func (g *guide) testLayout(t *testing.T) {
	needs(t, "umoci", runtime.GOOS == "linux")
	write(t, filepath.Join(g.dir, "image.sh"), g.file(t, "image.sh"))
	g.run(t, "cp", g.exe, "greeting")
	g.run(t, "sh", "image.sh")
	g.run(t, "umoci", "unpack", "--rootless", "--image", "image:1", "bundle")
	var config struct {
		Process struct {
			Args []string
			User struct{ UID, GID int }
		}
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(g.dir, "bundle/config.json"))), &config); err != nil {
		t.Fatal(err)
	}
	if p := config.Process; !slices.Equal(p.Args, []string{"/greeting"}) || p.User.UID != 65534 || p.User.GID != 65534 {
		t.Errorf("it runs %+v", p)
	}
	root := filepath.Join(g.dir, "bundle/rootfs")
	if read(t, root+"/greeting") != read(t, g.exe) || len(read(t, root+"/etc/ssl/certs/ca-certificates.crt")) == 0 {
		t.Error("the image has another program, or no certificates")
	}
	if _, err := exec.LookPath("skopeo"); err == nil {
		if out := g.run(t, "skopeo", "inspect", "--config", "oci:image:1"); !strings.Contains(out, `"65534:65534"`) {
			t.Errorf("skopeo: %s", out)
		}
	}
	runs := filepath.Join(root, "runs") // a volume
	if err := errors.Join(os.Mkdir(runs, 0o755), os.Chmod(runs, 0o777)); err != nil {
		t.Fatal(err)
	}
	rooted(t, root)
}

// A container is what is read of one in a manifest.
type container struct {
	Args []string
	Env  []struct {
		Name, Value string
		ValueFrom   struct{ SecretKeyRef struct{ Name, Key string } }
	}
	Ports []struct {
		Name          string
		ContainerPort int
	}
	VolumeMounts []struct{ Name, MountPath string }

	StartupProbe, ReadinessProbe, LivenessProbe struct {
		HTTPGet struct{ Path, Port string }
	}
}

// manifests validates the documents of a file and returns their containers.
func (g *guide) manifests(t *testing.T, name string) (list []container) {
	t.Helper()
	for i, doc := range strings.Split(g.file(t, name), "\n---\n") {
		text := asJSON(t, doc)
		if err := valid(t, text); err != nil {
			t.Errorf("%s: document %d: %v", name, i+1, err)
		}
		if wrong := bytes.Replace(text, []byte(`"metadata"`), []byte(`"metdata"`), 1); valid(t, wrong) == nil {
			t.Fatal("everything is valid")
		}
		type pod struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				Containers                    []container
				Volumes                       []struct{ Name string }
				TerminationGracePeriodSeconds int
			}
		}
		type controller struct {
			Selector             struct{ MatchLabels map[string]string }
			Template             pod
			VolumeClaimTemplates []struct{ Metadata struct{ Name string } }
		}
		var v struct {
			Spec struct {
				controller
				JobTemplate struct{ Spec controller }
			}
		}
		var probe struct{ Spec map[string]any }
		if err := json.Unmarshal(text, &probe); err != nil {
			t.Fatal(err)
		}
		if probe.Spec["template"] == nil && probe.Spec["jobTemplate"] == nil {
			continue // a Service, a claim
		}
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		c := v.Spec.controller
		if len(v.Spec.JobTemplate.Spec.Template.Spec.Containers) > 0 {
			c = v.Spec.JobTemplate.Spec
		}
		volumes := map[string]bool{}
		for _, v := range c.Template.Spec.Volumes {
			volumes[v.Name] = true
		}
		for _, v := range c.VolumeClaimTemplates {
			volumes[v.Metadata.Name] = true
		}
		for key, value := range c.Selector.MatchLabels {
			if c.Template.Metadata.Labels[key] != value {
				t.Errorf("%s: the selector finds no pod", name)
			}
		}
		for _, one := range c.Template.Spec.Containers {
			for _, m := range one.VolumeMounts {
				if !volumes[m.Name] {
					t.Errorf("%s: there is no volume %s", name, m.Name)
				}
				if !slices.ContainsFunc(one.Args, func(a string) bool { return a == m.MountPath || path.Dir(a) == m.MountPath }) {
					t.Errorf("%s: nothing uses %s", name, m.MountPath)
				}
			}
			for _, e := range one.Env {
				if strings.Contains(e.Name, "PASSWORD") && (e.Value != "" || e.ValueFrom.SecretKeyRef.Key == "") {
					t.Errorf("%s: %s is not from a Secret", name, e.Name)
				}
			}
			list = append(list, one)
		}
	}
	if len(list) != 1 {
		t.Fatalf("%s: %d containers", name, len(list))
	}
	return list
}

func asJSON(t *testing.T, doc string) []byte {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// valid holds a document against the schema of its kind.
func valid(t *testing.T, doc []byte) error {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(read(t, "testdata/kubernetes.json")), &schema); err != nil {
		t.Fatal(err)
	}
	group, kind := fmt.Sprint(v["apiVersion"]), fmt.Sprint(v["kind"])
	if !strings.Contains(group, "/") {
		group = "core/" + group
	}
	name := "io.k8s.api." + strings.ReplaceAll(group, "/", ".") + "." + kind
	if schema.Defs[name] == nil {
		return fmt.Errorf("there is no %s", name)
	}
	schema.Ref = "#/$defs/" + name
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved.Validate(v)
}

// probed asks the probes of a container, which are at the port admin of its arguments.
func probed(t *testing.T, c container, s *server) {
	t.Helper()
	ports := map[string]string{}
	for _, p := range c.Ports {
		ports[p.Name] = fmt.Sprintf(":%d", p.ContainerPort)
	}
	for _, at := range [][2]string{{"--addr", "http"}, {"--admin", "admin"}} {
		if i := slices.Index(c.Args, at[0]); i < 0 || c.Args[i+1] != ports[at[1]] {
			t.Errorf("%s is not at the port %s", at[0], at[1])
		}
	}
	for _, p := range []struct{ Path, Port string }{c.StartupProbe.HTTPGet, c.ReadinessProbe.HTTPGet, c.LivenessProbe.HTTPGet} {
		a := ask(t, "GET", "http://"+s.admin+p.Path, "")
		for end := time.Now().Add(time.Minute); a.status == http.StatusServiceUnavailable && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			a = ask(t, "GET", "http://"+s.admin+p.Path, "") // as a cluster does while a program starts
		}
		if p.Port != "admin" || a.status != http.StatusOK {
			t.Errorf("the probe %s at %s: %d %s", p.Path, p.Port, a.status, a.body)
		}
	}
}

const loopback = "127.0.0.1:0"

func (g *guide) testKubernetes(t *testing.T) {
	dir := t.TempDir()
	secret := tokens(t, dir)
	t.Run("statefulset", func(t *testing.T) {
		c := g.manifests(t, "statefulset.yaml")[0]
		args := substituted(t, c.Args, map[string]string{":8080": loopback, ":9090": loopback, "/runs": filepath.Join(dir, "runs"), "/tokens/tokens": secret, "5s": "0s"})
		s := serve(t, g.exe, args, nil)
		probed(t, c, s)
		run := s.begin(t)
		s.stop(t)
		s = serve(t, g.exe, args, nil) // another pod has the volume
		s.has(t, run)
		s.stop(t)
	})
	t.Run("cronjob", func(t *testing.T) {
		c := g.manifests(t, "cronjob.yaml")[0]
		folder := filepath.Join(dir, "clock")
		cmd := exec.Command(g.exe, substituted(t, c.Args, map[string]string{"/runs": folder})...)
		cmd.Env = []string{}
		if out := greets(t, cmd); !strings.Contains(out, "Hello, Ada!") || recorded(t, folder) != 1 {
			t.Errorf("%s", out)
		}
	})
	deployment, job := g.manifests(t, "deployment.yaml")[0], g.manifests(t, "job.yaml")[0]
	t.Run("postgres", func(t *testing.T) {
		address := g.postgres(t)
		environment := func(c container) (env []string) {
			for _, e := range c.Env {
				value := cmp.Or(e.Value, "secret")
				if strings.HasPrefix(value, "postgres://") {
					value = address
				}
				env = append(env, e.Name+"="+value)
			}
			return env
		}
		args := substituted(t, deployment.Args, map[string]string{":8080": loopback, ":9090": loopback, "/tokens/tokens": secret, "5s": "0s"})
		first, second := serve(t, g.exe, args, environment(deployment)), serve(t, g.exe, args, environment(deployment))
		probed(t, deployment, first)
		second.has(t, first.begin(t))
		first.stop(t)
		second.begin(t)
		second.stop(t)
		cmd := exec.Command(g.exe, job.Args...)
		cmd.Dir, cmd.Env = t.TempDir(), environment(job)
		if out := greets(t, cmd); !strings.Contains(out, "Hello, Ada!") || recorded(t, cmd.Dir) != 0 {
			t.Errorf("%s", out)
		}
	})
}

// postgres starts a server and returns the URL of a database.
func (g *guide) postgres(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(g.bin, "stored")
	if out, err := exec.Command("go", "build", "-ldflags=-s", "-o", exe, "../../runtime/internal/leaves/stored").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(exe, "postgres", "1")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		if strings.Contains(complaints.String(), "is not installed") && os.Getenv("CI") == "" {
			t.Skip(complaints.String())
		}
		t.Fatal(complaints.String())
	}
	t.Cleanup(func() { _ = errors.Join(in.Close(), cmd.Wait()) })
	return strings.TrimSpace(address) + "&search_path=h1"
}

const installed = "/usr/local/bin/greeting"

func (g *guide) testSystemd(t *testing.T) {
	unit := g.file(t, "greeting.service")
	m := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(unit)
	if m == nil {
		t.Fatal("the unit starts nothing")
	}
	dir := t.TempDir()
	tokens(t, dir)
	state := filepath.Join(dir, "greeting") // a link, as with DynamicUser
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "private/greeting"), 0o700), os.Symlink("private/greeting", state)); err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(m[1])
	for i, word := range words {
		words[i] = strings.NewReplacer(installed, g.exe, "${STATE_DIRECTORY}", state, "${CREDENTIALS_DIRECTORY}", dir).Replace(word)
	}
	s := serve(t, words[0], append(words[1:], "--addr", loopback, "--admin", loopback), nil)
	s.begin(t)
	s.stop(t)
	if n := recorded(t, filepath.Join(dir, "private/greeting")); n != 1 {
		t.Errorf("%d runs are recorded", n)
	}
	needs(t, "systemd-analyze", false)
	name := filepath.Join(dir, "greeting.service")
	verify := func(text string) string {
		write(t, name, strings.Replace(text, installed, `"`+g.exe+`"`, 1))
		out, _ := exec.Command("systemd-analyze", "verify", "--man=no", "--generators=no", name).CombinedOutput() // it says what is wrong, and succeeds
		return string(out)
	}
	if out := verify(strings.Replace(unit, "DynamicUser", "DynamicUsr", 1)); !strings.Contains(out, "DynamicUsr") {
		t.Skipf("it does not work here: %s", out)
	}
	if out := verify(unit); strings.Contains(out, "greeting") {
		t.Error(out)
	}
}

// testCron runs the line as cron does: by sh, with the variables of the table and few others.
func (g *guide) testCron(t *testing.T) {
	dir := t.TempDir()
	table := strings.NewReplacer(installed, "'"+g.exe+"'", "/var/lib/greeting", dir).Replace(g.file(t, "greeting.crontab"))
	env := []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin", "SHELL=/bin/sh"}
	command := ""
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if m := regexp.MustCompile(`^([A-Z_]+)=(.*)$`).FindString(line); m != "" {
			env = append(env, m)
		} else if m := regexp.MustCompile(`^[0-9*]+ [0-9*]+ [0-9*]+ [0-9*]+ [0-9*-]+ ([^%]+)$`).FindStringSubmatch(line); m != nil && command == "" { // % is a new line
			command = m[1]
		} else {
			t.Fatalf("cron does not understand %q", line)
		}
	}
	for want := 1; want <= 2; want++ {
		cmd := exec.Command("/bin/sh", "-c", command)
		cmd.Dir, cmd.Env = t.TempDir(), env
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v, and a mail: %s", err, out)
		}
		if n := recorded(t, dir); n != want {
			t.Errorf("%d runs are recorded after %d", n, want)
		}
	}
}

func (g *guide) testWebhook(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, g.exe, []string{"serve", "--addr", loopback, "--admin", "off", "--runs", filepath.Join(dir, "runs"), "--tokens", tokens(t, dir)}, nil)
	write(t, filepath.Join(dir, "main.go"), g.file(t, "webhook/main.go"))
	exe := filepath.Join(dir, "webhook")
	g.run(t, "go", "build", "-o", exe, filepath.Join(dir, "main.go"))
	cmd := exec.Command(exe)
	cmd.Env = []string{"WEBHOOK_SECRET=of both", "WEBHOOK_ADDR=" + loopback, "RUNS_TOKEN=" + startToken, "RUNS_URL=http://" + s.addr + "/v1/workflows/greeting/runs"}
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(log).ReadString('\n')
	_, addr, found := strings.Cut(strings.TrimSpace(line), "listening at ")
	if err != nil || !found {
		t.Fatal(line, err)
	}
	sign := func(secret, body string) string {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(body))
		return "sha256=" + hex.EncodeToString(mac.Sum(nil))
	}
	const ada = `{"sender": {"login": "Ada"}}`
	huge := strings.Repeat(" ", 1<<20) + ada
	for _, tt := range []struct {
		name, body, signature string
		want, runs            int
	}{
		{"signed", ada, sign("of both", ada), http.StatusAccepted, 1},
		{"delivered again", ada, sign("of both", ada), http.StatusOK, 1},
		{"another body", `{"sender": {"login": "Bob"}}`, sign("of both", ada), http.StatusUnauthorized, 1},
		{"another secret", ada, sign("of others", ada), http.StatusUnauthorized, 1},
		{"no signature", ada, "", http.StatusUnauthorized, 1},
		{"an empty one", ada, "sha256=", http.StatusUnauthorized, 1},
		{"half of one", ada, sign("of both", ada)[:39], http.StatusUnauthorized, 1},
		{"no JSON", "ada", sign("of both", "ada"), http.StatusBadRequest, 1},
		{"huge", huge, sign("of both", huge), http.StatusRequestEntityTooLarge, 1},
		{"another event", `{"sender": {"login": "Bob"}}`, sign("of both", `{"sender": {"login": "Bob"}}`), http.StatusAccepted, 2},
	} {
		if a := ask(t, "POST", "http://"+addr, tt.body, "X-Hub-Signature-256", tt.signature); a.status != tt.want {
			t.Errorf("%s: %d %s, want %d", tt.name, a.status, a.body, tt.want)
		}
		var list struct{ Runs []struct{ ID string } }
		a := ask(t, "GET", "http://"+s.addr+"/v1/runs", "", "Authorization", "Bearer "+token)
		if err := json.Unmarshal([]byte(a.body), &list); err != nil || len(list.Runs) != tt.runs {
			t.Errorf("%s: %d %s", tt.name, a.status, a.body)
		}
		for _, run := range list.Runs { // what is delivered again meets a run that has ended
			ask(t, "GET", "http://"+s.addr+"/v1/runs/"+run.ID, "", "Authorization", "Bearer "+token, "Prefer", "wait=60")
		}
	}
	s.stop(t)
}
