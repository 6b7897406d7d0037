package wal

import (
	"io/fs"
	"unsafe"

	"golang.org/x/sys/windows"
)

// system takes in what only an open file says here. It opens it without access to what is in it, which keeps nobody away.
func (s *Stamp) system(name string, _ fs.FileInfo) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return
	}
	h, err := windows.CreateFile(path, windows.FILE_READ_ATTRIBUTES, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(h, &info) == nil {
		s.device, s.inode = uint64(info.VolumeSerialNumber), uint64(info.FileIndexHigh)<<32|uint64(info.FileIndexLow)
	}
	var basic struct {
		creation, access, write, change windows.Filetime
		attributes                      uint32
		_                               uint32
	}
	if windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&basic)), uint32(unsafe.Sizeof(basic))) == nil {
		s.changed = basic.change.Nanoseconds()
	}
}
