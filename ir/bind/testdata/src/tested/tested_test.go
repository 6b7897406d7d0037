package tested

func OnlyTest(s string) string { return s }
