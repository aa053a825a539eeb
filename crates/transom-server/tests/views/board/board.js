window.early = "</script>";
