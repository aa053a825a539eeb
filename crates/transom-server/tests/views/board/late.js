window.late = true;
