package studio

import (
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// maxAttachment bounds what is sent of an attachment.
const maxAttachment = 8 << 20 // bytes

// attachment answers with the bytes of an attachment that is kept with a run, as a file: the page decides what it shows of it.
func (s *Server) attachment(w http.ResponseWriter, r *http.Request) (any, error) {
	_, _, rec, err := s.record(r)
	if err != nil {
		return nil, err
	}
	k, err := strconv.Atoi(r.PathValue("k"))
	if err != nil || k < 0 || k >= len(rec.Attachments) {
		return nil, problemf(http.StatusNotFound, "no such attachment", "")
	}
	data, err := s.kept(r.PathValue("id"), rec.Attachments[k].URL)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, problemf(http.StatusNotFound, "not kept here", "the attachment is not in the folder of the run")
	case err != nil:
		return nil, err
	case len(data) > maxAttachment:
		return nil, problemf(http.StatusRequestEntityTooLarge, "too large to be shown", "it is at "+rec.Attachments[k].URL)
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment; filename=attachment")
	_, err = w.Write(data)
	return nil, err
}

// kept reads an attachment that is in the folder of a run: its own, or the one that it began with. Of the address only the names of
// the run, the tenant and the content count, so that no address leads elsewhere, and a folder can be moved.
func (s *Server) kept(run, address string) ([]byte, error) {
	if strings.HasPrefix(address, "run:") {
		return s.opts.Runs.Attachment(address)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "file" {
		return nil, fs.ErrNotExist
	}
	rest, sum := path.Split(u.Path)
	rest, tenant := path.Split(strings.TrimSuffix(rest, "/"))
	for _, id := range []string{run, path.Base(path.Dir(strings.TrimSuffix(rest, "/")))} {
		var data []byte
		if data, err = s.opts.Runs.Attachment("run:" + id + "/" + tenant + "/" + sum); err == nil {
			return data, nil
		}
	}
	return nil, err
}
